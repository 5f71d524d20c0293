// Plays sessions with the official TypeScript client package of both eras. Input and output as in official_client.py.
import { readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const MODES = { auto: "auto", handshake: "legacy", stateless: { pin: "2026-07-28" } };
const plan = JSON.parse(readFileSync(0, "utf8"));
const done = [];
for (const { role, era, calls } of plan.sessions) {
  const options = { capabilities: {}, versionNegotiation: { mode: MODES[era] } };
  const client = new Client({ name: "client-v2", version: "1" }, options);
  const faults = [];
  client.onerror = (error) => faults.push(error.message);
  const { command, args, cwd, env } = plan.server;
  await client.connect(new StdioClientTransport({ command, cwd, env, args: role ? [...args, "--role", role] : args }));
  const { tools } = await client.listTools();
  const answers = [];
  for (const [name, given] of calls) {
    const result = await client.callTool({ name, arguments: given });
    answers.push({ isError: result.isError === true, text: result.content[0].text, structured: result.structuredContent });
  }
  done.push({
    version: client.getNegotiatedProtocolVersion(),
    server: client.getServerVersion()?.name ?? "",
    instructions: client.getInstructions() ?? "",
    tools: tools.map((tool) => tool.name),
    answers,
    faults,
  });
  await client.close();
}
process.stdout.write(JSON.stringify(done));
