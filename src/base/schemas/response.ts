import { type Schema, string } from './schema.ts'

/** The body of one response: a media type and, for JSON and text, its schema. */
export interface DescribedResponse {
  /** A sentence about the body. */
  readonly description: string
  /** Undefined if there is no body. */
  readonly mediaType: string | undefined
  readonly schema: Schema | undefined
  /** Names of headers that clients read, each with its meaning. */
  readonly headers: Readonly<Record<string, string>>
}

/** Corrections of what a reader says of its parameter, where the handler demands more. */
interface DescribedParameter {
  readonly description?: string
  readonly required?: true
}

/** The responses of a route by status. A status with several kinds of bodies has a list. */
export type Responses = Readonly<Record<number, DescribedResponse | readonly DescribedResponse[]>>

/** What the API description says of a route beside its readers and its responses. */
export interface Details {
  /** Further statuses whose body is an error of the surface. */
  readonly errors?: readonly number[]
  readonly parameters?: Readonly<Record<string, DescribedParameter>>
  /** Query parameters that the handler reads itself, each with its meaning. */
  readonly query?: Readonly<Record<string, string>>
  /** The fields of a body that the route reads as a stream. */
  readonly multipart?: Schema
  /** The body, where its fields are not those of the readers. */
  readonly body?: Schema
  /** Request headers that the handler reads. */
  readonly requestHeaders?: Readonly<Record<string, string>>
  readonly deprecated?: true
}

/** How a call compares with that of the server that existing clients were written for. */
export type Compatibility =
  | 'supported'
  | 'addition'
  | { readonly result: 'supported' | 'addition' | 'different'; readonly note: string }

/** A response with a JSON body. */
export function json(
  schema: Schema,
  description: string,
  headers: DescribedResponse['headers'] = {},
): DescribedResponse {
  return { description, mediaType: 'application/json', schema, headers }
}

/** A response with a line of text. */
export function plain(schema: Schema, description: string): DescribedResponse {
  return { description, mediaType: 'text/plain', schema, headers: {} }
}

/** A response with the bytes of a file. `mediaType` may be a range such as `image/*`. */
export function bytes(
  mediaType: string,
  description: string,
  headers: DescribedResponse['headers'] = {},
): DescribedResponse {
  return { description, mediaType, schema: undefined, headers }
}

const rangeHeaders = {
  'Accept-Ranges': '`bytes`',
  ETag: 'The tag of the content.',
}

/** The request headers that choose a part, or ask whether the content changed. */
export const rangeRequestHeaders = {
  Range: 'The bytes to send.',
  'If-Range': 'Sends the range only if the content still has this tag.',
  'If-None-Match': 'Answers 304 if the content still has this tag.',
}

/** The responses of bytes that can be requested in parts. `what` begins a sentence. */
export function ranged(
  mediaType: string,
  what: string,
  headers: DescribedResponse['headers'] = {},
): Responses {
  const sent = { ...rangeHeaders, ...headers }
  const part = { ...sent, 'Content-Range': 'The place of the part: `bytes 0-1023/4096`.' }
  return {
    200: bytes(mediaType, `${what}.`, sent),
    206: [
      bytes(mediaType, 'One part of it.', part),
      bytes('multipart/byteranges', 'Several parts of it, if several were requested.', sent),
    ],
    304: empty('It has the tag that `If-None-Match` names.'),
    412: plain(string(), 'A precondition is not met.'),
    416: plain(string(), 'The range is outside of it.'),
  }
}

/** A response without a body. */
export function empty(description: string, headers: DescribedResponse['headers'] = {}): DescribedResponse {
  return { description, mediaType: undefined, schema: undefined, headers }
}
