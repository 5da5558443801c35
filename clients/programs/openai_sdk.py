"""A tool loop with the openai package, streamed and then whole."""

import json

import openai
import task

client = openai.OpenAI(base_url=f"{task.URL}/v1", api_key=task.KEY, max_retries=0)
FUNCTION = {"name": task.NAME, "description": task.DESCRIPTION, "parameters": task.SCHEMA}


def chat(streamed):
    messages = [{"role": "user", "content": task.PROMPT}]
    for _ in range(task.ROUNDS):
        fields = {
            "model": task.MODEL,
            "messages": messages,
            "tools": [{"type": "function", "function": FUNCTION}],
            "max_tokens": task.MAX_TOKENS,
        }
        if streamed:
            with client.chat.completions.stream(**fields, stream_options={"include_usage": True}) as stream:
                for _event in stream:
                    pass
                answer = stream.get_final_completion()
        else:
            answer = client.chat.completions.create(**fields)
        assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
        message = answer.choices[0].message
        if not message.tool_calls:
            return message.content
        messages.append(replayed(message))
        for call in message.tool_calls:
            content = task.write_file(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
    return None


def replayed(message):
    """Without what the SDK's streaming helper has added."""
    turn = message.model_dump(exclude_none=True, exclude={"parsed"})
    for call in turn["tool_calls"]:
        call["function"].pop("parsed_arguments", None)
    return turn


def responses(streamed):
    items = [{"role": "user", "content": task.PROMPT}]
    for _ in range(task.ROUNDS):
        fields = {
            "model": task.MODEL,
            "input": items,
            "tools": [{"type": "function", "strict": False, **FUNCTION}],
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "max_output_tokens": task.MAX_TOKENS,
        }
        if streamed:
            with client.responses.stream(**fields) as stream:
                kinds = [event.type for event in stream]
                answer = stream.get_final_response()
            assert (kinds[0], kinds[-1]) == ("response.created", "response.completed"), kinds
        else:
            answer = client.responses.create(**fields)
        assert answer.usage.total_tokens == answer.usage.input_tokens + answer.usage.output_tokens
        calls = [item for item in answer.output if item.type == "function_call"]
        if not calls:
            return answer.output_text
        items += [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in answer.output]
        for call in calls:
            output = task.write_file(**json.loads(call.arguments))
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": output})
    return None


assert next(iter(client.models.list())).id
task.drive({"chat": chat, "responses": responses}[task.API])
