// The least server that the official TypeScript SDK makes: one tool. What ours is compared with at the start.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";

const server = new McpServer({ name: "minimal", version: "1" });
server.registerTool("echo", { description: "echo" }, async () => ({ content: [{ type: "text", text: "echo" }] }));
await server.connect(new StdioServerTransport());
