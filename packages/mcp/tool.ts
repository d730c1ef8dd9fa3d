import path from 'node:path'
import type { ToolAnnotations } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { Entry } from '../../sdk/src/index.ts'
import { type CallContext, ClientError, EXIT, type RemoteEntry, stateOf } from '../client/index.ts'

/** A document that a tool results in. */
export type Document = Record<string, unknown>

/** A tool of the MCP server. Its input is validated by its schema, and so is its result. */
export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: z.ZodObject
  readonly output: z.ZodObject
  readonly annotations: ToolAnnotations
  /** Resolves to the document that the caller gets. */
  readonly run: (input: unknown, call: CallContext) => Promise<Document>
}

export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  tool: Omit<Tool, 'input' | 'output' | 'run'> & {
    readonly input: Input
    readonly output: Output
    readonly run: (input: z.output<Input>, call: CallContext) => Promise<z.output<Output>>
  },
): Tool {
  return { ...tool, run: (input, call) => tool.run(input as z.output<Input>, call) }
}

/** Annotations of a tool that changes nothing. */
export const READS: ToolAnnotations = { readOnlyHint: true, openWorldHint: false }

const MAX_PATH = 4096
const MAX_NAME = 300

/** Readers of arguments that several tools have. */
export const inputs = {
  library: z.string().min(1).max(MAX_NAME).describe('Name or id of a library, as list_libraries returns it.'),
  path: z.string().min(1).max(MAX_PATH).describe('Absolute path in the library, such as /notes/plan.md.'),
  at: z
    .string()
    .min(1)
    .max(40)
    .optional()
    .describe('An earlier state: a commit id, or a time such as 2026-11-01T12:00:00Z. Default: now.'),
  id: z.string().regex(/^[0-9a-f]{40}$/, '40 hexadecimal digits'),
  offset: z.int().min(0).default(0).describe('Items to skip: next_offset of the call before.'),
  limit: (usual: number, most: number) =>
    z.int().min(1).max(most).default(usual).describe(`Items at most, up to ${most}.`),
}

/** Parts of documents that several tools have. The server may leave out a time. */
export const outputs = {
  time: z.string().optional(),
  kind: z.enum(['file', 'folder']),
  /** A part of a list. */
  list: <Item extends z.ZodType>(item: Item) =>
    z.object({
      items: z.array(item),
      next_offset: z.number().optional().describe('The offset of the next part; absent at the end.'),
    }),
}

/** A path as the API takes it: with a leading slash, without a trailing one, without `.` and `..`. */
export function pathOf(text: string): string {
  const normal = path.posix.normalize(`/${text}`)
  return normal === '/' ? normal : normal.replace(/\/$/, '')
}

/** An entry of a library. Throws ClientError if there is none. */
export async function entryAt(
  { carrel, libraries, signal }: CallContext,
  target: { readonly library: string; readonly path: string; readonly at?: string | undefined },
): Promise<RemoteEntry> {
  const { id: library } = await libraries.get(target.library)
  const at = pathOf(target.path)
  const entry = await carrel.find(library, at, { ...stateOf(target.at), signal })
  if (entry === undefined) throw new ClientError(`There is no ${at}.`, EXIT.notFound)
  return { ...entry, library }
}

export function entryToDocument({ path: at, kind, id, size, modifiedAt }: Entry) {
  const shown = { path: at, kind: kindOf(kind), modified: isoTime(modifiedAt) }
  return kind === 'dir' ? shown : { ...shown, id, size }
}

/** The word of documents for a kind of the API. */
export function kindOf(kind: Entry['kind']): z.output<typeof outputs.kind> {
  return kind === 'dir' ? 'folder' : kind
}

/** A time of the server, which may be none. */
export function isoTime(time: Date): string | undefined {
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString()
}
