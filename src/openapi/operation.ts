import type { TSchema } from 'typebox'

/** The body of one response: a media type and, for JSON and text, its schema. */
export interface DescribedResponse {
  /** A sentence about the body. */
  readonly description: string
  /** Undefined if there is no body. */
  readonly mediaType: string | undefined
  readonly schema: TSchema | undefined
  /** Names of headers that clients read, each with its meaning. */
  readonly headers: Readonly<Record<string, string>>
}

/** Corrections of what a reader says of its parameter, where the handler demands more. */
interface DescribedParameter {
  readonly description?: string
  readonly required?: true
}

/** The description of one route: what its declaration does not say. */
export interface Operation {
  /** Method and path as the route declares them: `GET /api2/repos/`. */
  readonly route: string
  /** By status. The errors that every route of its surface can answer are not repeated here. */
  readonly responses: ReadonlyMap<number, readonly DescribedResponse[]>
  /** Further statuses whose body is an error of the surface. */
  readonly errors: readonly number[]
  readonly parameters: Readonly<Record<string, DescribedParameter>>
  /** Query parameters that the handler reads itself, each with its meaning. */
  readonly query: Readonly<Record<string, string>>
  /** The fields of a body that the route reads as a stream. */
  readonly multipart: TSchema | undefined
  /** Request headers that the handler reads. */
  readonly requestHeaders: Readonly<Record<string, string>>
  readonly deprecated: boolean
}

interface OperationOptions {
  readonly errors?: readonly number[]
  readonly parameters?: Readonly<Record<string, DescribedParameter>>
  readonly query?: Readonly<Record<string, string>>
  readonly multipart?: TSchema
  readonly requestHeaders?: Readonly<Record<string, string>>
  readonly deprecated?: true
}

/** Describes a route by its responses. A status with several kinds of bodies has a list. */
export function operation(
  route: string,
  responses: Readonly<Record<number, DescribedResponse | readonly DescribedResponse[]>>,
  options: OperationOptions = {},
): Operation {
  const byStatus = Object.entries(responses).map(([status, response]): [number, DescribedResponse[]] => [
    Number(status),
    [response].flat(),
  ])
  return {
    route,
    responses: new Map(byStatus),
    errors: options.errors ?? [],
    parameters: options.parameters ?? {},
    query: options.query ?? {},
    multipart: options.multipart,
    requestHeaders: options.requestHeaders ?? {},
    deprecated: options.deprecated ?? false,
  }
}

/** A response with a JSON body. */
export function json(
  schema: TSchema,
  description: string,
  headers: DescribedResponse['headers'] = {},
): DescribedResponse {
  return { description, mediaType: 'application/json', schema, headers }
}

/** A response with a line of text. */
export function plain(schema: TSchema, description: string): DescribedResponse {
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

/** A response without a body. */
export function empty(description: string, headers: DescribedResponse['headers'] = {}): DescribedResponse {
  return { description, mediaType: undefined, schema: undefined, headers }
}
