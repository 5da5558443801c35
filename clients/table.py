"""Who is driven, in which versions, over which APIs."""

from clients import claude_code, cline, codex, copilot, llm_command, opencode, pi, qwen_code
from clients.client import Api, Client, Packages
from clients.libraries import javascript, python

CHAT, RESPONSES, MESSAGES = Api
ALL = (CHAT, RESPONSES, MESSAGES)
OPENAI = (CHAT, RESPONSES)

CLAUDE = Packages("claude-code", "npm", ("@anthropic-ai/claude-code@2.1.332",))
CODEX = Packages("codex", "npm", ("@openai/codex@0.171.0",))
OPENCODE = Packages("opencode", "npm", ("opencode-ai@1.18.33",))
PI = Packages("pi", "npm", ("@earendil-works/pi-coding-agent@1.6.0",))
COPILOT = Packages("copilot", "npm", ("@github/copilot@1.0.102",))
QWEN_CODE = Packages("qwen-code", "npm", ("@qwen-code/qwen-code@0.24.4",))
CLINE = Packages("cline", "npm", ("cline@3.0.65",))
LLM = Packages("llm", "pip", ("llm==0.36",))
SDK_PY = Packages("sdk-py", "pip", ("openai==3.57.0", "anthropic==2.14.0"))
SDK_PY_OLD = Packages("sdk-py-old", "pip", ("openai==1.109.1", "anthropic==0.69.0"))
SDK_JS = Packages("sdk-js", "npm", ("openai@7.59.0", "@anthropic-ai/sdk@1.14.0"))
SDK_JS_OLD = Packages("sdk-js-old", "npm", ("openai@4.104.0", "@anthropic-ai/sdk@0.60.0"))
AI_SDK = Packages(
    "ai-sdk",
    "npm",
    (
        "ai@7.0.173",
        "@ai-sdk/openai-compatible@3.0.92",
        "@ai-sdk/openai@4.0.118",
        "@ai-sdk/anthropic@4.0.105",
        "zod@4.6.7",
    ),
)
LANGCHAIN = Packages("langchain", "pip", ("langchain-openai==1.7.4", "langchain-anthropic==1.7.10"))
LITELLM = Packages("litellm", "pip", ("litellm==1.110.2",))
AGENTS = Packages("openai-agents", "pip", ("openai-agents==0.24.0",))
PYDANTIC_AI = Packages("pydantic-ai", "pip", ("pydantic-ai-slim[openai,anthropic]==2.68.0",))

AGENTS_THAT_CODE = (
    Client("claude", CLAUDE, (MESSAGES,), claude_code.claude(), claude_code.complaint),
    Client("claude-bare", CLAUDE, (MESSAGES,), claude_code.claude("--bare"), claude_code.complaint),
    Client("codex", CODEX, (RESPONSES,), codex.command, codex.complaint),
    # For a model it knows it sends other tools, among them one with a grammar.
    Client("codex-known-model", CODEX, (RESPONSES,), codex.command, codex.complaint, asks="gpt-5.5"),
    Client("opencode", OPENCODE, ALL, opencode.command, opencode.complaint),
    Client("pi", PI, ALL, pi.command, pi.complaint),
    Client("copilot", COPILOT, ALL, copilot.command),
    Client("qwen-code", QWEN_CODE, (CHAT,), qwen_code.command, qwen_code.complaint),
    Client("cline", CLINE, (CHAT,), cline.command),
    Client("llm", LLM, (CHAT,), llm_command.command),
)
SDKS = (
    Client("openai-py", SDK_PY, OPENAI, python("openai_sdk.py")),
    Client("openai-py-1", SDK_PY_OLD, OPENAI, python("openai_sdk.py")),
    Client("anthropic-py", SDK_PY, (MESSAGES,), python("anthropic_sdk.py")),
    Client("anthropic-py-0", SDK_PY_OLD, (MESSAGES,), python("anthropic_sdk.py")),
    Client("openai-js", SDK_JS, OPENAI, javascript("openai_sdk.mjs")),
    Client("openai-js-4", SDK_JS_OLD, OPENAI, javascript("openai_sdk.mjs")),
    Client("anthropic-js", SDK_JS, (MESSAGES,), javascript("anthropic_sdk.mjs")),
    Client("anthropic-js-0", SDK_JS_OLD, (MESSAGES,), javascript("anthropic_sdk.mjs")),
)
FRAMEWORKS = (
    Client(
        "ai-sdk-compatible", AI_SDK, (CHAT,), javascript("ai_sdk.mjs", DRIVE_PROVIDER="openai-compatible")
    ),
    Client("ai-sdk-openai", AI_SDK, OPENAI, javascript("ai_sdk.mjs", DRIVE_PROVIDER="openai")),
    Client("ai-sdk-anthropic", AI_SDK, (MESSAGES,), javascript("ai_sdk.mjs", DRIVE_PROVIDER="anthropic")),
    Client("langchain", LANGCHAIN, ALL, python("langchain_loop.py")),
    Client("litellm", LITELLM, ALL, python("litellm_loop.py")),
    Client("openai-agents", AGENTS, OPENAI, python("agents_loop.py")),
    Client("pydantic-ai", PYDANTIC_AI, ALL, python("pydantic_loop.py")),
)
CLIENTS = (*AGENTS_THAT_CODE, *SDKS, *FRAMEWORKS)
FAMILIES = ("deepseek-v4", "qwen3.8", "glm-5.2")

RECOVERING = frozenset({"claude", "claude-bare", "opencode", "pi", "qwen-code"})
"""They make room when a prompt is refused, also where nobody has told them the limit."""
COMPACTING = RECOVERING | {"codex", "copilot"}
"""They make room before a limit that they know."""
