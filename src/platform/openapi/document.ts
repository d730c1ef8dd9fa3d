import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Compatibility, DescribedResponse, Details } from '../../base/schemas/index.ts'
import type { Route } from '../http/index.ts'
import type { Accepted } from '../input/index.ts'
import { exampleOf } from './example.ts'

/** The fields of a route that the description needs. */
type DescribableRoute = Pick<
  Route<never, never>,
  | 'method'
  | 'path'
  | 'auth'
  | 'scope'
  | 'summary'
  | 'params'
  | 'query'
  | 'body'
  | 'bodyLimit'
  | 'limit'
  | 'compatibility'
  | 'responses'
  | 'details'
>

/** Routes that answer errors alike. */
export interface DescribedSurface {
  readonly routes: readonly DescribableRoute[]
  /** The form of its errors: a JSON object of these names, or `text`. */
  readonly errorForm: 'api' | 'upload' | 'text'
}

type Json = Record<string, unknown>

/** A body of one media type. Bytes have no schema. */
interface MediaType {
  readonly schema?: unknown
  readonly example?: unknown
}

interface ResponseObject {
  readonly description: string
  readonly headers?: Json
  readonly content?: Readonly<Record<string, MediaType>>
}

const HTTP_METHODS = new Set(['GET', 'POST', 'PUT', 'DELETE'])

/** Extensions: `x-lenient` marks a parameter whose malformed values count as not sent, `x-compatibility` compares a call with that of the original server. */
const INTRODUCTION = `The File Library Web API. Every path works with and without a trailing slash, HEAD works wherever GET does, and a body can be
urlencoded, multipart or JSON. Requests carry \`Authorization: Token …\` or \`Authorization: Bearer …\`. Further fields may be added to responses.
Errors are objects with \`error_msg\` or \`detail\`. Those of uploads have \`error\`, and those of downloads are text.`

/** The errors that any route can answer, whatever it does. */
const GENERAL_ERRORS: Readonly<Record<number, string>> = {
  400: 'The request is malformed, or a parameter is invalid.',
  401: 'The token is invalid, or its account was deleted.',
  403: 'There is no token, or the caller may not do this.',
  404: 'Something that the request names does not exist for the caller.',
  413: 'The body is too large.',
  415: 'The type of the body is unknown.',
  429: 'Too many requests. `Retry-After` says when to try again.',
  500: 'The server failed. The reason is in its log.',
  503: 'The server is busy, cannot save anything at the moment, or stops. `Retry-After` says when to try again.',
  504: 'The database did not answer, so it is not known whether the change was made. Look before you repeat it.',
  507: 'The server has no disk space left.',
}

/** Errors with a meaning that HTTP does not give them. */
const OWN_ERRORS: Readonly<Record<number, string>> = {
  408: 'The request took too long.',
  409: 'The request conflicts with another change.',
  411: 'The length of the body is missing.',
  412: 'The content changed.',
  416: 'The range is outside of the file.',
  422: 'The file cannot be read.',
  423: 'A file is locked.',
  440: 'The file name is invalid, or the library needs its password.',
  441: 'The file does not exist.',
  442: 'The file is larger than the server accepts.',
  443: 'The owner of the library is out of quota.',
  446: 'Blocks of the file are missing.',
  520: 'The operation failed.',
}

/** Every surface answers `Detail` or `ErrorMessage` to what it refuses before the route is known. */
const ERROR_SCHEMAS: Readonly<Record<DescribedSurface['errorForm'], Record<string, MediaType>>> = {
  api: jsonErrors('ErrorMessage', 'Detail', 'PasswordNeeded'),
  upload: jsonErrors('UploadError', 'ErrorMessage', 'Detail'),
  text: { 'text/plain': { schema: { type: 'string' } }, ...jsonErrors('ErrorMessage', 'Detail') },
}

function jsonErrors(...names: readonly string[]): Record<string, MediaType> {
  return {
    'application/json': {
      schema: { anyOf: names.map((name) => ({ $ref: `#/components/schemas/${name}` })) },
    },
  }
}

/** The responses to errors, by form and status. */
function errorResponses(): Json {
  const meanings = Object.entries({ ...GENERAL_ERRORS, ...OWN_ERRORS })
  return Object.fromEntries(
    Object.entries(ERROR_SCHEMAS).flatMap(([form, content]) =>
      meanings.map(([status, description]) => [`${form}${status}`, { description, content }]),
    ),
  )
}

const ERROR_COMPONENTS: Json = {
  ErrorMessage: {
    type: 'object',
    description: 'Why an endpoint refused a request.',
    required: ['error_msg'],
    properties: {
      error_msg: { type: 'string' },
    },
  },
  PasswordNeeded: {
    type: 'object',
    description: 'The library needs its password first.',
    required: ['lib_need_decrypt'],
    properties: { lib_need_decrypt: { const: true } },
  },
  Detail: {
    type: 'object',
    description: 'Why a request was refused before it reached its endpoint.',
    required: ['detail'],
    properties: { detail: { type: 'string' } },
  },
  UploadError: {
    type: 'object',
    description: 'Why an upload was refused.',
    required: ['error'],
    properties: { error: { type: 'string' } },
  },
}

/** The version of the API, not of the program. */
const VERSION = '2.1'

/** The OpenAPI 3.1 document of some surfaces. Throws if a route does not say how it answers. */
export function describeApi(surfaces: readonly DescribedSurface[]): Json {
  const steps = describeInSteps(surfaces)
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** The text of the document, made in turns of a few milliseconds, so that a server can make it between requests. */
export async function descriptionText(surfaces: readonly DescribedSurface[]): Promise<string> {
  const steps = describeInSteps(surfaces)
  let step = steps.next()
  for (; !step.done; step = steps.next()) await nextTurn()
  const { paths, components, ...head } = step.value as { paths: Json; components: Record<string, Json> }
  const parts = [JSON.stringify(head).slice(0, -1), ',"paths":', await textInTurns(paths), ',"components":{']
  for (const [index, [name, entries]] of Object.entries(components).entries()) {
    parts.push(`${index === 0 ? '' : ','}${JSON.stringify(name)}:`, await textInTurns(entries))
  }
  return `${parts.join('')}}}`
}

/** Many entries take as long to write as few requests to answer. */
const ENTRIES_PER_TURN = 8

async function textInTurns(entries: Json): Promise<string> {
  const parts: string[] = []
  for (const [name, value] of Object.entries(entries)) {
    if (parts.length % ENTRIES_PER_TURN === 0) await nextTurn()
    parts.push(`${JSON.stringify(name)}:${JSON.stringify(value)}`)
  }
  return `{${parts.join(',')}}`
}

/** Yields after each few routes. */
function* describeInSteps(surfaces: readonly DescribedSurface[]): Generator<void, Json> {
  const schemas = new NamedSchemas(ERROR_COMPONENTS)
  const paths: Record<string, Record<string, unknown>> = {}
  let count = 0
  for (const { routes, errorForm } of surfaces) {
    for (const route of routes) {
      if (!HTTP_METHODS.has(route.method)) continue
      const form = templateOf(route.path)
      paths[form] ??= {}
      paths[form][route.method.toLowerCase()] = operationObject(route, { errorForm, schemas })
      count += 1
      if (count % ENTRIES_PER_TURN === 0) yield
    }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Carrel', version: VERSION, description: INTRODUCTION, license: { name: 'Apache-2.0' } },
    servers: [{ url: '..', description: 'The server that sent this description.' }],
    paths: sorted(paths),
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description:
            'An API token of `POST /api2/auth-token/`, or a personal token. The roles of an operation are `admin` for administrators, or the scope that a personal token needs. Without a scope, personal tokens are refused.',
        },
        libraryToken: { type: 'http', scheme: 'bearer', description: 'The API token of a library.' },
      },
      responses: errorResponses(),
      schemas: sorted(schemas.found()),
    },
  }
}

/** The id of an operation: its method and the words of its path. */
function operationIdOf({ method, path }: Pick<DescribableRoute, 'method' | 'path'>): string {
  const words = path.replaceAll(':', 'by-').split(/[^A-Za-z0-9]+/)
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

interface Surroundings {
  readonly errorForm: DescribedSurface['errorForm']
  /** Collects the named schemas. */
  readonly schemas: NamedSchemas
}

function operationObject(route: DescribableRoute, surroundings: Surroundings): Json {
  const { compatibility } = route
  const details = route.details?.() ?? {}
  return {
    operationId: operationIdOf(route),
    tags: [tagOf(route.path)],
    summary: route.summary,
    ...(details.deprecated && { deprecated: true }),
    ...(compatibility && { 'x-compatibility': compared(compatibility) }),
    security: securityOf(route),
    ...limitsOf(route),
    parameters: parametersOf(route, details),
    ...bodyOf(route, details, surroundings.schemas),
    responses: responsesOf(route, details, surroundings),
  }
}

/** Shorter forms spelled out. */
function compared(compatibility: Compatibility): Exclude<Compatibility, string> | { result: string } {
  return typeof compatibility === 'string' ? { result: compatibility } : compatibility
}

function securityOf({ auth, scope }: DescribableRoute): Json[] {
  if (auth === 'none') return []
  if (auth === 'library') return [{ libraryToken: [] }]
  const roles = [...(auth === 'admin' ? ['admin'] : []), ...(scope === 'none' ? [] : [scope])]
  return [{ token: roles }]
}

function limitsOf({ method, body, bodyLimit, limit }: DescribableRoute): Json {
  const takesBody = method !== 'GET' && body !== 'raw' && Object.keys(body).length > 0
  return {
    ...(takesBody && { 'x-body-limit': bodyLimit }),
    ...(limit !== 'none' && { 'x-rate-limit': limit }),
  }
}

/** Parameters that mean the same in all calls. */
const USUAL_MEANINGS: Readonly<Record<string, string>> = {
  page: 'The page, counted from 1.',
  per_page: 'The number of entries on a page.',
  expire_days: 'The number of days after which it ends.',
  expiration_time: 'When it ends, in ISO 8601.',
}

/** The description of a parameter of which its reader says nothing. The schema of its call takes precedence. */
function usualMeaning(name: string): { description?: string } {
  const description = USUAL_MEANINGS[name]
  return description === undefined ? {} : { description }
}

function parametersOf({ params, query }: DescribableRoute, details: Details): Json[] {
  const described = details.parameters ?? {}
  const inPath = Object.entries(params).map(([name, reader]) => {
    const { description, schema } = acceptedSchema(reader.accepts)
    return { name, in: 'path', required: true, ...described[name], ...description, schema }
  })
  const inQuery = Object.entries(query).map(([name, reader]) => {
    const { description, schema, required } = acceptedSchema(reader.accepts)
    const about = { ...usualMeaning(name), ...description, ...described[name] }
    return { name, in: 'query', ...(required && { required }), ...about, schema }
  })
  const readByHandler = Object.entries(details.query ?? {}).map(([name, description]) => ({
    name,
    in: 'query',
    description,
    schema: { type: 'string' },
  }))
  const inHeaders = Object.entries(details.requestHeaders ?? {}).map(([name, description]) => ({
    name,
    in: 'header',
    description,
    schema: { type: 'string' },
  }))
  return [...inPath, ...inQuery, ...readByHandler, ...inHeaders]
}

/** The schema of a parameter. A file in a form is a string of bytes. */
function acceptedSchema(accepts: Accepted = { type: 'string' }): {
  schema: Json
  description: Json
  required: boolean
} {
  const { type, items, required = false, lenient, description, default: usual, ...rest } = accepts
  const isKnown = usual !== undefined && (rest.enum === undefined || rest.enum.includes(String(usual)))
  const schema: Json = {
    ...(type === 'file' ? { type: 'string', format: 'binary' } : { type }),
    ...(type === 'array' && { items: acceptedSchema(items).schema }),
    ...rest,
    ...(isKnown && { default: usual }),
    ...(lenient && { 'x-lenient': true }),
  }
  return { schema, description: description === undefined ? {} : { description }, required }
}

/** The encodings of a body that is not a stream. */
const BODY_TYPES = ['application/x-www-form-urlencoded', 'multipart/form-data', 'application/json']

function bodyOf(route: DescribableRoute, details: Details, schemas: NamedSchemas): Json {
  if (route.method === 'GET') return {}
  if (details.body !== undefined) {
    const schema = schemas.named(details.body)
    return {
      requestBody: {
        required: true,
        content: Object.fromEntries(BODY_TYPES.map((type) => [type, { schema }])),
      },
    }
  }
  if (route.body === 'raw') {
    const schema = details.multipart
    return schema === undefined
      ? { requestBody: { content: { 'application/octet-stream': {} } } }
      : { requestBody: { required: true, content: { 'multipart/form-data': { schema } } } }
  }
  const fields = Object.entries(route.body)
  if (fields.length === 0) return {}
  const properties: Json = {}
  const required: string[] = []
  for (const [name, reader] of fields) {
    const accepted = acceptedSchema(reader.accepts)
    const own = details.parameters?.[name]
    const description = own?.description === undefined ? {} : { description: own.description }
    properties[name] = {
      ...accepted.schema,
      ...usualMeaning(name),
      ...accepted.description,
      ...description,
    }
    if (accepted.required || own?.required) required.push(name)
  }
  const name = `${operationIdOf(route)}Body`
  schemas.add(name, { type: 'object', properties, ...(required.length > 0 && { required }) })
  const schema = { $ref: `#/components/schemas/${name}` }
  const hasFile = fields.some(([, { accepts }]) => accepts?.type === 'file')
  const content = Object.fromEntries(
    BODY_TYPES.filter((type) => !hasFile || type === 'multipart/form-data').map((type) => [type, { schema }]),
  )
  return { requestBody: { ...(required.length > 0 && { required: true }), content } }
}

function responsesOf(
  route: DescribableRoute,
  { errors = [] }: Details,
  { errorForm, schemas }: Surroundings,
): Json {
  if (route.responses === undefined)
    throw new Error(`${route.method} ${route.path} does not say how it answers`)
  const found: Record<string, unknown> = {}
  const general = Object.keys(GENERAL_ERRORS)
    .map(Number)
    .filter((status) => status !== 401 || route.auth !== 'none')
  for (const status of [...general, ...errors]) {
    found[status] = { $ref: `#/components/responses/${errorForm}${status}` }
  }
  let isFirst = true
  for (const [text, described] of Object.entries(route.responses())) {
    const [status, bodies] = [Number(text), [described].flat()]
    const isSuccess = status < 300
    const response = responseObject(bodies, schemas, { withExample: isFirst && isSuccess })
    if (isSuccess) isFirst = false
    found[status] = status < 400 ? response : withErrorsOf(errorForm, response)
  }
  return found
}

/** A response with errors of its own, which can also be those of the surface. */
function withErrorsOf(errorForm: DescribedSurface['errorForm'], response: ResponseObject): ResponseObject {
  const content = { ...response.content }
  for (const [mediaType, errors] of Object.entries(ERROR_SCHEMAS[errorForm])) {
    const own = content[mediaType]
    content[mediaType] = own === undefined ? errors : { ...own, schema: eitherOf(own.schema, errors.schema) }
  }
  return { ...response, content }
}

/** The schema of values that one of two schemas describes. */
function eitherOf(one: unknown, other: unknown): unknown {
  const variants = [...variantsOf(one), ...variantsOf(other)]
  const different = new Map(variants.map((variant) => [JSON.stringify(variant), variant]))
  return different.size === 1 ? variants[0] : { anyOf: [...different.values()] }
}

function variantsOf(schema: unknown): readonly unknown[] {
  const { anyOf } = schema as { anyOf?: readonly unknown[] }
  return anyOf ?? [schema]
}

function responseObject(
  bodies: readonly DescribedResponse[],
  schemas: NamedSchemas,
  { withExample }: { withExample: boolean },
): ResponseObject {
  const content: Record<string, MediaType> = {}
  const headers: Json = {}
  for (const { mediaType, schema, headers: sent } of bodies) {
    for (const [name, description] of Object.entries(sent))
      headers[name] = { description, schema: { type: 'string' } }
    if (mediaType === undefined) continue
    const known = content[mediaType]?.schema
    const plain = schema === undefined ? undefined : schemas.named(schema)
    const joined = known === undefined ? plain : { anyOf: [known, plain] }
    content[mediaType] = joined === undefined ? {} : { schema: joined }
  }
  const json = content['application/json']
  const ofJson = bodies.flatMap(({ mediaType, schema }) => (mediaType === 'application/json' ? [schema] : []))
  const example = withExample && json !== undefined ? exampleOf(ofJson) : undefined
  if (example !== undefined) content['application/json'] = { ...json, example }
  return {
    description: bodies.map(({ description }) => description).join(' '),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(Object.keys(content).length > 0 && { content }),
  }
}

/** The schemas that the document has once, by name. */
class NamedSchemas {
  readonly #found: Map<string, unknown>
  /** Copies by their originals: many responses contain the same records. */
  readonly #copies = new WeakMap<object, unknown>()

  constructor(first: Json) {
    this.#found = new Map(Object.entries(first))
  }

  /** A copy of a schema in which records with a title are references to the components. Throws if two records have one title. */
  named(schema: unknown): unknown {
    if (typeof schema !== 'object' || schema === null) return schema
    const known = this.#copies.get(schema)
    if (known !== undefined) return known
    const copy = Array.isArray(schema) ? schema.map((item) => this.named(item)) : this.#copied(schema)
    this.#copies.set(schema, copy)
    return copy
  }

  #copied(schema: object): unknown {
    const entries = Object.entries(schema).map(([key, value]): [string, unknown] => [key, this.named(value)])
    const { title, ...rest } = Object.fromEntries(entries)
    if (typeof title !== 'string') return rest
    const known = this.#found.get(title)
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(rest)) {
      throw new Error(`Two records have the title ${title}`)
    }
    this.#found.set(title, rest)
    return { $ref: `#/components/schemas/${title}` }
  }

  add(name: string, schema: unknown): void {
    this.#found.set(name, schema)
  }

  found(): Json {
    return Object.fromEntries(this.#found)
  }
}

function templateOf(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}')
}

/** The resource of a path: the first word after the version. */
function tagOf(path: string): string {
  const [first = '', second = '', third = ''] = path.split('/').filter(Boolean)
  if (first === 'api') return third
  return first === 'api2' || first === 'seafhttp' ? second || first : 'server'
}

function sorted<T>(record: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
