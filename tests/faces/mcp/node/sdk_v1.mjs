// Plays sessions with the official TypeScript SDK, version 1. Input and output as in official_client.py.
import { readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const plan = JSON.parse(readFileSync(0, "utf8"));
const done = [];
for (const { role, calls } of plan.sessions) {
  const client = new Client({ name: "sdk-v1", version: "1" }, { capabilities: {} });
  const faults = [];
  client.onerror = (error) => faults.push(error.message);
  const { command, args, cwd, env } = plan.server;
  const transport = new StdioClientTransport({ command, cwd, env, args: role ? [...args, "--role", role] : args });
  await client.connect(transport);
  const { tools } = await client.listTools();
  const answers = [];
  for (const [name, given] of calls) {
    const result = await client.callTool({ name, arguments: given });
    answers.push({ isError: result.isError === true, text: result.content[0].text, structured: result.structuredContent });
  }
  await client.ping();
  done.push({
    version: transport.protocolVersion ?? "",
    server: client.getServerVersion()?.name ?? "",
    instructions: client.getInstructions() ?? "",
    tools: tools.map((tool) => tool.name),
    answers,
    faults,
  });
  await client.close();
}
process.stdout.write(JSON.stringify(done));
