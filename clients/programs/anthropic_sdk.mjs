// A tool loop with @anthropic-ai/sdk.
import Anthropic from "@anthropic-ai/sdk";
import * as task from "./task.mjs";

const client = new Anthropic({ baseURL: task.URL, apiKey: task.KEY, maxRetries: 0 });
const tools = [{ name: task.NAME, description: task.DESCRIPTION, input_schema: task.SCHEMA }];

async function loop(streamed) {
  const messages = [{ role: "user", content: task.PROMPT }];
  for (let round = 0; round < task.ROUNDS; round++) {
    const fields = { model: task.MODEL, max_tokens: task.MAX_TOKENS, messages, tools };
    const answer = streamed
      ? await client.messages.stream(fields).finalMessage()
      : await client.messages.create(fields);
    messages.push({ role: "assistant", content: answer.content });
    if (answer.stop_reason !== "tool_use") {
      return answer.content.filter((block) => block.type === "text").map((block) => block.text).join("");
    }
    const calls = answer.content.filter((block) => block.type === "tool_use");
    const content = calls.map((call) => ({
      type: "tool_result",
      tool_use_id: call.id,
      content: task.writeFile(call.input),
    }));
    messages.push({ role: "user", content });
  }
}

await client.models.list();
await client.messages.countTokens({ model: task.MODEL, messages: [{ role: "user", content: "hello" }] });
await task.drive(loop);
