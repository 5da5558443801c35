"""A tool loop with the anthropic package, streamed and then whole."""

import anthropic
import task

client = anthropic.Anthropic(base_url=task.URL, api_key=task.KEY, max_retries=0)
TOOL = {"name": task.NAME, "description": task.DESCRIPTION, "input_schema": task.SCHEMA}
# The SDK's own marks on what it has read: another version does not send them back.
LOCAL = {"parsed_output", "caller"}


def loop(streamed):
    messages = [{"role": "user", "content": task.PROMPT}]
    for _ in range(task.ROUNDS):
        fields = {"model": task.MODEL, "messages": messages, "tools": [TOOL], "max_tokens": task.MAX_TOKENS}
        if streamed:
            with client.messages.stream(**fields) as stream:
                for _event in stream:
                    pass
                answer = stream.get_final_message()
        else:
            answer = client.messages.create(**fields)
        assert answer.usage.output_tokens
        if answer.stop_reason != "tool_use":
            return "".join(block.text for block in answer.content if block.type == "text")
        content = [block.model_dump(exclude_none=True, exclude=LOCAL) for block in answer.content]
        messages.append({"role": "assistant", "content": content})
        results = [
            {"type": "tool_result", "tool_use_id": block.id, "content": task.write_file(**block.input)}
            for block in answer.content
            if block.type == "tool_use"
        ]
        messages.append({"role": "user", "content": results})
    return None


assert next(iter(client.models.list())).id
hello = [{"role": "user", "content": "hello"}]
assert client.messages.count_tokens(model=task.MODEL, messages=hello).input_tokens > 0
task.drive(loop)
