import type { CallToolResult } from '@modelcontextprotocol/server'
import { CarrelError } from '../../sdk/src/index.ts'
import { ClientError, EXIT, note } from '../client/index.ts'
import type { Document } from './tool.ts'

/** Characters of a list in one result. A longer one is continued by another call. */
const MAX_LIST_CHARACTERS = 60_000

/** Characters of a message of the server in a result. */
const MAX_MESSAGE = 500

/**
 * Characters that are invisible or reorder text: control and format characters, private use, separators of lines, variation selectors.
 * Models read them, and people who review a call do not see them.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u{fe00}-\u{fe0f}\u{e0100}-\u{e01ef}]/gu

/**
 * JSON in which hidden characters are escaped. All text of the server is in its strings: it cannot pass for a part of the
 * document, and the original text is what a JSON parser returns.
 */
export function safeJson(document: unknown): string {
  return JSON.stringify(document).replace(HIDDEN, (character) =>
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  )
}

/** A successful result: the document as text for models, and as it is for programs. */
export function resultOf(document: Document): CallToolResult {
  return { content: textOf(document), structuredContent: document }
}

function textOf(document: Document): CallToolResult['content'] {
  return [{ type: 'text', text: safeJson(document) }]
}

/** The result of a call that failed. The model reads it and can correct its arguments. */
export function failedResult(error: unknown): CallToolResult {
  return { content: textOf(explanation(error)), isError: true }
}

/** The kinds of errors of the client, by their exit codes: the same as those of the API. */
const kinds: Readonly<Record<number, string>> = {
  [EXIT.usage]: 'invalid',
  [EXIT.forbidden]: 'forbidden',
  [EXIT.notFound]: 'not-found',
  [EXIT.conflict]: 'conflict',
}

function explanation(error: unknown): { error: string; kind: string } {
  if (error instanceof CarrelError) return { error: error.message.slice(0, MAX_MESSAGE), kind: error.kind }
  if (error instanceof ClientError) {
    return { error: error.message.slice(0, MAX_MESSAGE), kind: kinds[error.exitCode] ?? 'refused' }
  }
  if (error instanceof Error && error.name === 'TimeoutError') {
    return {
      error: 'The server did not finish in time. What it does may still be completed.',
      kind: 'timeout',
    }
  }
  if (error instanceof Error && error.name === 'AbortError') {
    return { error: 'The call was canceled. What the server does may still be completed.', kind: 'canceled' }
  }
  // The details are for the person who runs the program, not for the model.
  note(error instanceof Error ? (error.stack ?? error.message) : String(error))
  return { error: 'The tool failed unexpectedly.', kind: 'bug' }
}

/** A part of a list. `next_offset` is absent at its end. */
interface ListPart<Item> {
  readonly items: Item[]
  readonly next_offset?: number
}

/** The items from `offset` on, as many as `limit` and the size of a result permit. */
export async function partOf<T, Item>(
  all: AsyncIterable<T> | Iterable<T>,
  { offset = 0, limit }: { readonly offset?: number | undefined; readonly limit: number },
  toDocument: (item: T) => Item,
): Promise<ListPart<Item>> {
  const items: Item[] = []
  let characters = 0
  let at = 0
  for await (const item of all) {
    if (at >= offset) {
      const document = toDocument(item)
      characters += safeJson(document).length
      if (items.length >= limit || (characters > MAX_LIST_CHARACTERS && items.length > 0)) {
        return { items, next_offset: at }
      }
      items.push(document)
    }
    at += 1
  }
  return { items }
}
