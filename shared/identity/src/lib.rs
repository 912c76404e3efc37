//! Bearer token to caller, and what a caller may do.
