"""What stands in where LocalStack, as it comes from the package index, has nothing of its own that runs on this machine.

- `dynamodb`: DynamoDB's calls go to the table server, the engine that the product embeds.
- `loopback`: LocalStack listens on loopback, and nowhere else.
- `executor`, `environment`, `runtime`, `output`: Lambda functions as processes of this machine, by the Lambda runtime API.
- `assignment`: LocalStack's choice of an environment for a call, made safe for calls that come at once.
- `telemetry`: LocalStack's record of calls, made cheaper.
- `pump`, `deliver`: schedules of EventBridge Scheduler, which LocalStack stores, are fired.

LocalStack finds them through the entry points beside this package.
"""
