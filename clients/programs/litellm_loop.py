"""A tool loop over LiteLLM: its completion call for chat and Messages, its Responses call besides."""

import json

import litellm
import task

litellm.telemetry = False
litellm.num_retries = 0
FUNCTION = {"name": task.NAME, "description": task.DESCRIPTION, "parameters": task.SCHEMA}
BASE = task.URL if task.API == "messages" else f"{task.URL}/v1"
PROVIDER = {"chat": "hosted_vllm", "messages": "anthropic", "responses": "openai"}[task.API]
FIELDS = {"model": f"{PROVIDER}/{task.MODEL}", "api_key": task.KEY, "api_base": BASE}


def completion(streamed):
    messages = [{"role": "user", "content": task.PROMPT}]
    tools = [{"type": "function", "function": FUNCTION}]
    for _ in range(task.ROUNDS):
        answer = litellm.completion(
            messages=messages, tools=tools, stream=streamed, max_tokens=task.MAX_TOKENS, **FIELDS
        )
        if streamed:
            answer = litellm.stream_chunk_builder(list(answer), messages=messages)
        message = answer.choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            content = task.write_file(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
    return None


def responses(streamed):
    items = [{"role": "user", "content": task.PROMPT}]
    tools = [{"type": "function", "strict": False, **FUNCTION}]
    for _ in range(task.ROUNDS):
        answer = litellm.responses(input=items, tools=tools, stream=streamed, store=False, **FIELDS)
        if streamed:
            answer = [event for event in answer if event.type == "response.completed"][-1].response
        output = [
            item if isinstance(item, dict) else item.model_dump(exclude_none=True) for item in answer.output
        ]
        items += output
        calls = [item for item in output if item["type"] == "function_call"]
        if not calls:
            texts = [part["text"] for item in output if item["type"] == "message" for part in item["content"]]
            return "".join(texts)
        for call in calls:
            result = task.write_file(**json.loads(call["arguments"]))
            items.append({"type": "function_call_output", "call_id": call["call_id"], "output": result})
    return None


task.drive(responses if task.API == "responses" else completion)
