"""Every error a user can meet, in one tree.

Ds4Error
├── StartError            the server cannot start; exit code 1
│   ├── OptionError       exit code 2, names the option and its value
│   └── ModelError        the model file is missing, broken or unsupported
├── RequestError          the caller's request; knows its HTTP status
│   ├── BadRequest        400; `param` names the field
│   │   ├── ContextOverflow
│   │   └── Unsupported   a field that changes the answer and is not implemented
│   ├── NotFound          404
│   ├── MethodNotAllowed  405
│   ├── TooLarge          413
│   └── Overloaded        429, with Retry-After
└── ServerError           ours; 500
    ├── EngineError       a step failed
    ├── TemplateError     the model's chat template raised; quotes its message
    └── Unavailable       503: loading, or shutting down

Errors carry blame and status; how they look on the wire is each API's own affair (`api/`).
"""


class Ds4Error(Exception):
    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class StartError(Ds4Error):
    exit_code = 1


class OptionError(StartError):
    exit_code = 2


class ModelError(StartError):
    pass


class RequestError(Ds4Error):
    status = 400
    type = "invalid_request_error"

    def __init__(self, message: str, *, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.param = param
        self.code = code


class BadRequest(RequestError):
    pass


class ContextOverflow(BadRequest):
    """The prompt alone fills the context. Each API words it for its own clients."""

    def __init__(self, prompt_tokens: int, context: int) -> None:
        super().__init__(
            f"Prompt has {prompt_tokens} tokens, but the configured context size is {context} tokens",
            code="context_length_exceeded",
        )
        self.prompt_tokens = prompt_tokens
        self.context = context


class Unsupported(BadRequest):
    def __init__(self, param: str, why: str = "is not supported by this server") -> None:
        super().__init__(f"{param} {why}", param=param, code="unsupported_parameter")


class NotFound(RequestError):
    status = 404
    type = "not_found_error"


class MethodNotAllowed(RequestError):
    status = 405


class TooLarge(RequestError):
    status = 413


class Overloaded(RequestError):
    status = 429
    type = "rate_limit_error"

    def __init__(self, message: str, *, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ServerError(Ds4Error):
    status = 500
    type = "server_error"


class EngineError(ServerError):
    pass


class TemplateError(ServerError):
    pass


class Unavailable(ServerError):
    status = 503

    def __init__(self, message: str, *, retry_after: int = 5) -> None:
        super().__init__(message)
        self.retry_after = retry_after
