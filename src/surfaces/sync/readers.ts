import { JsonRefused, parseOutsideJson } from '../../base/json.ts'
import { type LibraryId, MAX_IDS, parseLibraryId } from '../../base/objects/index.ts'
import type { Library } from '../../libraries/library/index.ts'
import { type HttpRequest, type RequestBody, readBody } from '../../platform/http/index.ts'
import { map, rawText } from '../../platform/input/index.ts'
import { HttpResponse, TextRefusal } from '../../platform/responses/index.ts'

/** Enough for the longest list of ids, with commas and spaces. */
const LARGEST_LIST = 2 ** 20

/** The library id in a path. */
export const libraryParam = map(rawText(), (text) => parseLibraryId(text ?? ''))

/** The response of most calls: only the status counts. */
export const done = new HttpResponse(200, {}, '')

export function badRequest(text: string): TextRefusal {
  return new TextRefusal(400, text)
}

/**
 * The JSON value of a body. Clients send JSON with the content type of a form, so it is ignored.
 * Throws a refusal for malformed JSON.
 */
export async function readJson(
  request: HttpRequest,
  body: RequestBody,
  limit = LARGEST_LIST,
): Promise<unknown> {
  const bytes = await readBody(body, limit, request.bodyClaim)
  try {
    return parseOutsideJson(bytes, { depth: 10 })
  } catch (error) {
    if (error instanceof JsonRefused) throw badRequest('Bad JSON in request')
    throw error
  }
}

/**
 * The ids of a list in a body, whose memory is charged to the account of the library that was opened for it. What is no id
 * is left out, or refused where `strict`.
 */
export async function readIds<T extends string>(
  { request, body, library }: { request: HttpRequest; body: RequestBody; library: Library },
  parse: (text: string) => T | undefined,
  options: { strict: boolean },
): Promise<T[]> {
  request.chargeTo(String(library.actor.key))
  const sent = await readJson(request, body)
  if (!Array.isArray(sent)) throw badRequest('Bad JSON in request')
  if (sent.length > MAX_IDS) throw badRequest('Too many ids in request')
  const ids: T[] = []
  for (const one of sent) {
    const id = typeof one === 'string' ? parse(one) : undefined
    if (id !== undefined) ids.push(id)
    else if (options.strict) throw badRequest('Invalid id in request')
  }
  return ids
}

export function parseLibraryIdOrRefuse(value: unknown): LibraryId {
  const id = typeof value === 'string' ? parseLibraryId(value) : undefined
  if (id === undefined) throw badRequest('Invalid repo id')
  return id
}
