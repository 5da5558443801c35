// The openai package: its own tool runner for chat, a plain loop for Responses.
import OpenAI from "openai";
import * as task from "./task.mjs";

const client = new OpenAI({ baseURL: `${task.URL}/v1`, apiKey: task.KEY, maxRetries: 0 });
const shape = { name: task.NAME, description: task.DESCRIPTION, parameters: task.SCHEMA };
// Up to version 4 the runner was in beta.
const completions = client.chat.completions.runTools ? client.chat.completions : client.beta.chat.completions;

async function chat(streamed) {
  const run = completions.runTools({
    model: task.MODEL,
    messages: [{ role: "user", content: task.PROMPT }],
    max_tokens: task.MAX_TOKENS,
    stream: streamed,
    tools: [{ type: "function", function: { ...shape, parse: JSON.parse, function: task.writeFile } }],
  });
  return run.finalContent();
}

async function ask(streamed, fields) {
  if (!streamed) return client.responses.create(fields);
  let answer;
  for await (const event of await client.responses.create({ ...fields, stream: true })) {
    if (event.type === "response.completed") answer = event.response;
  }
  return answer;
}

async function responses(streamed) {
  const input = [{ role: "user", content: task.PROMPT }];
  for (let round = 0; round < task.ROUNDS; round++) {
    const answer = await ask(streamed, {
      model: task.MODEL,
      input,
      tools: [{ type: "function", strict: false, ...shape }],
      store: false,
      include: ["reasoning.encrypted_content"],
      max_output_tokens: task.MAX_TOKENS,
    });
    input.push(...answer.output);
    const calls = answer.output.filter((item) => item.type === "function_call");
    if (!calls.length) {
      const said = answer.output.filter((item) => item.type === "message");
      return said.flatMap((item) => item.content.map((part) => part.text)).join("");
    }
    for (const call of calls) {
      const output = task.writeFile(JSON.parse(call.arguments));
      input.push({ type: "function_call_output", call_id: call.call_id, output });
    }
  }
}

await client.models.list();
await task.drive({ chat, responses }[task.API]);
