import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import {
  type JsonSchemaValidatorResult,
  Client as McpClient,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv'
import type { Client } from '../support/client.ts'
import { carrelProcess, environment, type Outcome, program, start } from '../support/command.ts'

/** Revisions of the protocol: with a handshake, and without one. */
export type Era = 'legacy' | 'auto'

/** A client of `carrel mcp`. */
export interface McpUser extends AsyncDisposable {
  readonly mcp: McpClient
  /** Tools that succeeded. The structured content of each result fitted the schema of the tool. */
  readonly validated: ReadonlySet<string>
  /** Calls a tool that succeeds, and parses its document. */
  // oxlint-disable-next-line typescript/no-explicit-any
  call(tool: string, input?: Record<string, unknown>): Promise<any>
  /** Calls a tool that fails, and resolves to its message. */
  fail(tool: string, input?: Record<string, unknown>): Promise<string>
  /** The text of a result as it is. */
  text(tool: string, input?: Record<string, unknown>): Promise<string>
}

const folders = new Set<string>()

async function settingsOf({ url, token }: Pick<Client, 'url' | 'token'>): Promise<Record<string, string>> {
  // Without sign-ins of the user who runs the tests.
  const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-mcp-'))
  folders.add(folder)
  return {
    CARREL_CLIENT_URL: url,
    CARREL_CLIENT_TOKEN: token ?? '',
    CARREL_CLIENT_FOLDER: folder,
  }
}

/** Removes the folders of the clients. */
export async function removeFolders(): Promise<void> {
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
  folders.clear()
}

/** Starts `carrel mcp` over standard input and output. */
export async function overStdio(
  client: Client,
  { args = [], era = 'legacy' }: { args?: readonly string[]; era?: Era } = {},
): Promise<McpUser> {
  const env = { ...environment, PATH: process.env['PATH'] ?? '', ...(await settingsOf(client)) }
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [...program, 'mcp', ...args],
    env,
    stderr: 'inherit',
  })
  const mcp = newClient(era)
  await mcp.connect(transport)
  return userOf(mcp)
}

/** Runs `carrel mcp` to its end. */
export async function runMcp(client: Client, args: readonly string[], input = ''): Promise<Outcome> {
  return carrelProcess(['mcp', ...args], { env: await settingsOf(client), input })
}

/** A running `carrel mcp --http`. */
export interface HttpServing extends AsyncDisposable {
  readonly url: string
  /** Sends SIGTERM and resolves to the exit code. */
  stop(): Promise<number | null>
}

export async function serveHttp(client: Client, args: readonly string[] = []): Promise<HttpServing> {
  const env = await settingsOf({ url: client.url, token: undefined })
  const child = start(['mcp', '--http', '--port', '0', ...args], { env })
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  let url: string | undefined
  for await (const line of createInterface({ input: child.stderr })) {
    url = / at (http:\S+)$/.exec(line)?.[1]
    if (url !== undefined) break
  }
  if (url === undefined) throw new Error('carrel mcp ended before it was ready')
  child.stderr.resume()
  const stop = () => {
    child.kill('SIGTERM')
    return ended
  }
  return { url, stop, [Symbol.asyncDispose]: async () => void (await stop()) }
}

/** Connects to `carrel mcp --http` with the token of a client. */
export async function overHttp(url: string, { token }: Client, era: Era = 'legacy'): Promise<McpUser> {
  const mcp = newClient(era)
  const headers = { Authorization: `Bearer ${token}` }
  await mcp.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
  return userOf(mcp)
}

function newClient(era: Era): McpClient {
  return new McpClient({ name: 'tests', version: '1.0.0' }, { versionNegotiation: { mode: era } })
}

/** Checks of results against the output schemas that the tools declare, by the name of the tool. */
async function outputChecks(
  mcp: McpClient,
): Promise<Map<string, (result: unknown) => JsonSchemaValidatorResult<unknown>>> {
  const { tools } = await mcp.listTools()
  const validator = new AjvJsonSchemaValidator()
  return new Map(
    tools.flatMap(({ name, outputSchema }) =>
      outputSchema === undefined ? [] : [[name, validator.getValidator(outputSchema)] as const],
    ),
  )
}

function userOf(mcp: McpClient): McpUser {
  const validated = new Set<string>()
  let checks: Awaited<ReturnType<typeof outputChecks>> | undefined
  const called = async (name: string, input: Record<string, unknown> = {}) => {
    const { content, isError, structuredContent } = await mcp.callTool({ name, arguments: input })
    const [block] = content
    assert.ok(block?.type === 'text' && content.length === 1)
    if (isError !== true) {
      assert.deepEqual(structuredContent, JSON.parse(block.text), name)
      const check = (checks ??= await outputChecks(mcp)).get(name)?.(structuredContent)
      assert.ok(check?.valid, `${name}: ${check?.errorMessage ?? 'it has no output schema'}`)
      validated.add(name)
    }
    return { text: block.text, isError: isError === true }
  }
  const succeeding = async (name: string, input?: Record<string, unknown>) => {
    const { text, isError } = await called(name, input)
    assert.equal(isError, false, `${name}: ${text}`)
    return text
  }
  return {
    mcp,
    validated,
    text: succeeding,
    call: async (name, input) => JSON.parse(await succeeding(name, input)),
    async fail(name, input) {
      const { text, isError } = await called(name, input)
      assert.equal(isError, true, `${name}: ${text}`)
      return text
    },
    [Symbol.asyncDispose]: () => mcp.close(),
  }
}
