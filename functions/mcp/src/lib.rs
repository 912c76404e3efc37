//! The MCP endpoint.
