import type { Accepted, Route } from '../http/index.ts'
import type { DescribedResponse, Operation } from './operation.ts'

/** The fields of a route that the description needs. */
type DescribableRoute = Pick<
  Route<never, never>,
  'method' | 'path' | 'auth' | 'scope' | 'summary' | 'params' | 'query' | 'body' | 'bodyLimit' | 'limit'
>

/** Routes that answer errors alike, and their operations. */
export interface DescribedSurface {
  readonly routes: readonly DescribableRoute[]
  readonly operations: readonly Operation[]
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

/** The recorded response of an operation, by operation id. */
export type Examples = Readonly<Record<string, { readonly status: number; readonly body: unknown }>>

/** What the server that existing clients were written for does differently, by method and path. Omitted calls are not served here. */
export type Compatibility = Readonly<
  Record<
    string,
    { readonly result: 'supported' | 'different' | 'addition' | 'omitted'; readonly note?: string }
  >
>

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

/** The OpenAPI 3.1 document of some surfaces. Throws if a route has no operation, or an operation no route. */
export function describeApi(
  surfaces: readonly DescribedSurface[],
  {
    version,
    examples = {},
    compatibility = {},
  }: { version: string; examples?: Examples; compatibility?: Compatibility },
): Json {
  const schemas = new Map<string, unknown>(Object.entries(ERROR_COMPONENTS))
  const paths: Record<string, Record<string, unknown>> = {}
  for (const { routes, operations, errorForm } of surfaces) {
    const described = new Map(operations.map((operation) => [operation.route, operation]))
    for (const route of routes) {
      if (!HTTP_METHODS.has(route.method)) continue
      const name = `${route.method} ${route.path}`
      const form = templateOf(route.path)
      const operation = described.get(name)
      if (operation === undefined) throw new Error(`No schema describes the responses of ${name}`)
      paths[form] ??= {}
      paths[form][route.method.toLowerCase()] = operationObject(route, operation, {
        errorForm,
        schemas,
        examples,
        compatibility: compatibility[name],
      })
      described.delete(name)
    }
    if (described.size > 0) throw new Error(`No such route: ${[...described.keys()].join(', ')}`)
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Carrel', version, description: INTRODUCTION, license: { name: 'Apache-2.0' } },
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
      schemas: sorted(Object.fromEntries(schemas)),
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
  readonly schemas: Map<string, unknown>
  readonly examples: Examples
  readonly compatibility: Compatibility[string] | undefined
}

function operationObject(
  route: DescribableRoute,
  operation: Operation,
  { compatibility, ...surroundings }: Surroundings,
): Json {
  const id = operationIdOf(route)
  return {
    operationId: id,
    tags: [tagOf(route.path)],
    summary: route.summary,
    ...(operation.deprecated && { deprecated: true }),
    ...(compatibility && { 'x-compatibility': compatibility }),
    security: securityOf(route),
    ...limitsOf(route),
    parameters: parametersOf(route, operation),
    ...bodyOf(route, operation, surroundings.schemas),
    responses: responsesOf(route, operation, surroundings),
  }
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

function parametersOf({ params, query }: DescribableRoute, operation: Operation): Json[] {
  const described = operation.parameters
  const inPath = Object.entries(params).map(([name, reader]) => {
    const { description, schema } = acceptedSchema(reader.accepts)
    return { name, in: 'path', required: true, ...described[name], ...description, schema }
  })
  const inQuery = Object.entries(query).map(([name, reader]) => {
    const { description, schema, required } = acceptedSchema(reader.accepts)
    const about = { ...usualMeaning(name), ...description, ...described[name] }
    return { name, in: 'query', ...(required && { required }), ...about, schema }
  })
  const readByHandler = Object.entries(operation.query).map(([name, description]) => ({
    name,
    in: 'query',
    description,
    schema: { type: 'string' },
  }))
  const inHeaders = Object.entries(operation.requestHeaders).map(([name, description]) => ({
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

function bodyOf(route: DescribableRoute, operation: Operation, schemas: Map<string, unknown>): Json {
  if (route.method === 'GET') return {}
  if (operation.body !== undefined) {
    const schema = hoisted(operation.body, schemas)
    return {
      requestBody: {
        required: true,
        content: Object.fromEntries(BODY_TYPES.map((type) => [type, { schema }])),
      },
    }
  }
  if (route.body === 'raw') {
    const schema = operation.multipart
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
    const own = operation.parameters[name]
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
  schemas.set(name, { type: 'object', properties, ...(required.length > 0 && { required }) })
  const schema = { $ref: `#/components/schemas/${name}` }
  const hasFile = fields.some(([, { accepts }]) => accepts?.type === 'file')
  const content = Object.fromEntries(
    BODY_TYPES.filter((type) => !hasFile || type === 'multipart/form-data').map((type) => [type, { schema }]),
  )
  return { requestBody: { ...(required.length > 0 && { required: true }), content } }
}

function responsesOf(
  route: DescribableRoute,
  { responses, errors }: Operation,
  { errorForm, schemas, examples }: Omit<Surroundings, 'compatibility'>,
): Json {
  const found: Record<string, unknown> = {}
  const general = Object.keys(GENERAL_ERRORS)
    .map(Number)
    .filter((status) => status !== 401 || route.auth !== 'none')
  for (const status of [...general, ...errors]) {
    found[status] = { $ref: `#/components/responses/${errorForm}${status}` }
  }
  const example = examples[operationIdOf(route)]
  for (const [status, bodies] of responses) {
    const shown = example?.status === status ? { example: example.body } : {}
    const response = responseObject(bodies, schemas, shown)
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
  schemas: Map<string, unknown>,
  example: Json,
): ResponseObject {
  const content: Record<string, MediaType> = {}
  const headers: Json = {}
  for (const { mediaType, schema, headers: sent } of bodies) {
    for (const [name, description] of Object.entries(sent))
      headers[name] = { description, schema: { type: 'string' } }
    if (mediaType === undefined) continue
    const known = content[mediaType]?.schema
    const plain = schema === undefined ? undefined : hoisted(schema, schemas)
    const joined = known === undefined ? plain : { anyOf: [known, plain] }
    content[mediaType] = joined === undefined ? {} : { schema: joined, ...example }
  }
  return {
    description: bodies.map(({ description }) => description).join(' '),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(Object.keys(content).length > 0 && { content }),
  }
}

/** A copy of a schema in which records with a title are references to the components. Throws if two records have one title. */
function hoisted(schema: unknown, schemas: Map<string, unknown>): unknown {
  if (Array.isArray(schema)) return schema.map((item) => hoisted(item, schemas))
  if (typeof schema !== 'object' || schema === null) return schema
  const copy = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, hoisted(value, schemas)]),
  )
  const { title, ...rest } = copy
  if (typeof title !== 'string') return copy
  const known = schemas.get(title)
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(rest)) {
    throw new Error(`Two records have the title ${title}`)
  }
  schemas.set(title, rest)
  return { $ref: `#/components/schemas/${title}` }
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
