import { Compile, Errors } from 'typebox/schema'
import { Router } from '../../src/platform/http/router.ts'

// Compares the requests of tests and the responses to them with the API description. A difference fails the request, so that it is a
// failure of the test that sent it.

/** Larger bodies are not compared, because that would take longer than the test. */
const MAX_BODY = 256 * 1024

type Json = Record<string, unknown>

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly schema: Json
}

interface DescribedResponse {
  readonly $ref?: string
  readonly content?: Record<string, { schema?: Json }>
}

interface DescribedOperation {
  readonly name: string
  readonly operationId: string
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly content: Record<string, { schema?: Json }> }
  readonly responses: Record<string, DescribedResponse>
}

interface Description {
  readonly router: Router<DescribedOperation>
  readonly components: { responses: Record<string, DescribedResponse>; schemas: Record<string, Json> }
}

/** What was sent and received. */
export interface ObservedExchange {
  readonly method: string
  readonly url: URL
  /** Undefined if there is none, or if it was sent as bytes. */
  readonly body: URLSearchParams | FormData | Json | undefined
  readonly status: number
  readonly contentType: string
  /** Undefined if it is not text. */
  readonly text: string | undefined
}

/** Answered before the route is known, or by a proxy. */
const NOT_OF_ROUTES: ReadonlySet<number> = new Set([408, 411, 414, 417, 431, 501, 502, 504, 505])

const origins = new Set<string>()
const strictOrigins = new Set<string>()
let described: Promise<Description> | undefined
let loaded: Description | undefined

/** Benchmarks start servers too, and must not measure the comparison. */
const isTestRun =
  process.env['NODE_TEST_CONTEXT'] !== undefined || process.env['CARREL_TEST_FREEZE_ROWS'] === '1'

/** Compares the exchanges of `fetch` with this server from now on. */
export function observeExchanges(url: string): void {
  if (!isTestRun) return
  if (origins.size === 0) replaceFetch()
  origins.add(new URL(url).origin)
}

/** Also refuses fields of requests to this server that no route reads. Many tests send such fields on purpose. */
export function requireDescribedFields(url: string): void {
  strictOrigins.add(new URL(url).origin)
}

function replaceFetch(): void {
  const send = globalThis.fetch
  globalThis.fetch = async (input, init) => {
    const response = await send(input, init)
    const differences = await differencesIn(input, init, response)
    if (differences.length > 0) throw new Error(`not as described: ${differences.join('; ')}`)
    return response
  }
}

async function differencesIn(
  input: string | URL | Request,
  init: RequestInit = {},
  response: Response,
): Promise<string[]> {
  // Requests as objects have a body that can be read only once. No test of the API sends them.
  if (input instanceof Request) return []
  const url = new URL(input)
  if (!origins.has(url.origin)) return []
  const method = init.method?.toUpperCase() ?? 'GET'
  await loadDescription()
  const operation = findOperation(method, url)
  if (operation === undefined || NOT_OF_ROUTES.has(response.status)) return []
  const contentType = response.headers.get('content-type')?.split(';')[0] ?? ''
  const isCompared = method !== 'HEAD' && isDescribed(operation, response.status, contentType)
  // A stream has no length, and a test may not want to read it to its end.
  const isShort = Number(response.headers.get('content-length') ?? Number.POSITIVE_INFINITY) <= MAX_BODY
  const text = isCompared && isShort ? await response.clone().text() : undefined
  const body = bodyOf(init)
  return findDifferences(operation, { method, url, body, status: response.status, contentType, text })
}

/** Where an exchange differs from the description; empty if nowhere, or if it is no call of the API. */
export async function differencesOf(exchange: ObservedExchange): Promise<string[]> {
  await loadDescription()
  const operation = findOperation(exchange.method, exchange.url)
  return operation === undefined ? [] : findDifferences(operation, exchange)
}

function findDifferences(operation: DescribedOperation, exchange: ObservedExchange): string[] {
  const { status, url, body } = exchange
  const found = responseDifferences(operation, exchange)
  // A rejected request may be malformed on purpose.
  if (status < 400) {
    const isStrict = strictOrigins.has(url.origin)
    found.push(
      ...parameterDifferences(operation, url.searchParams, isStrict),
      ...bodyDifferences(operation, body, isStrict),
    )
  }
  return found.map((difference) => `${operation.name}, ${status}: ${difference}`)
}

function findOperation(method: string, { pathname }: URL): DescribedOperation | undefined {
  return description().router.find(method === 'HEAD' ? 'GET' : method, pathname)?.target
}

function description(): Description {
  if (loaded === undefined) throw new Error('The description was not loaded.')
  return loaded
}

/** Makes the description of the routes, which a test that sends requests has loaded with its server. */
async function loadDescription(): Promise<void> {
  described ??= load()
  loaded = await described
}

async function load(): Promise<Description> {
  const { readDescription } = await import('../../bin/description.ts')
  const { paths, components } = readDescription() as unknown as {
    paths: Record<string, Record<string, DescribedOperation>>
    components: Description['components']
  }
  const router = new Router<DescribedOperation>()
  for (const [template, methods] of Object.entries(paths)) {
    for (const [word, operation] of Object.entries(methods)) {
      const method = word.toUpperCase()
      const name = `${method} ${template}`
      router.add(method, template.replace(/\{(\w+)\}/g, ':$1'), { ...operation, name })
    }
  }
  return { router, components }
}

/** Whether there is a schema for a body. Other bodies are not read: they may be files, or streams that do not end. */
function isDescribed({ responses }: DescribedOperation, status: number, contentType: string): boolean {
  return mediaOf(contentOf(responses[status]), contentType)?.schema !== undefined
}

/** The body of a media type. A range such as `image/*` stands for all types that are not named. */
function mediaOf(content: DescribedResponse['content'], contentType: string): { schema?: Json } | undefined {
  return content?.[contentType] ?? content?.[contentType.replace(/\/.*/, '/*')] ?? content?.['*/*']
}

function contentOf(response: DescribedResponse | undefined): DescribedResponse['content'] {
  if (response?.$ref === undefined) return response?.content
  return description().components.responses[nameIn(response.$ref)]?.content
}

function responseDifferences(operation: DescribedOperation, exchange: ObservedExchange): string[] {
  const { method, status, contentType, text } = exchange
  const declared = operation.responses[status]
  if (declared === undefined) return ['the status is not described']
  const content = contentOf(declared)
  if (method === 'HEAD' || content === undefined) return []
  const media = mediaOf(content, contentType)
  if (media === undefined) return [`the type ${contentType || 'of the body'} is not described`]
  if (media.schema === undefined || text === undefined) return []
  const value = contentType === 'application/json' ? parse(text) : text
  return valueDifferences(closed(media.schema), value)
}

function parameterDifferences(
  { parameters }: DescribedOperation,
  sent: URLSearchParams,
  isStrict: boolean,
): string[] {
  const declared = parameters.filter((one) => one.in === 'query')
  const schemas = new Map(declared.map(({ name, schema }) => [name, schema]))
  const missing = declared
    .filter(({ name, required }) => required && !sent.has(name))
    .map(({ name }) => `the query lacks ${name}, which is said to be required`)
  return [...missing, ...fieldDifferences('query', schemas, [...sent], isStrict)]
}

function bodyDifferences(
  { requestBody }: DescribedOperation,
  body: ObservedExchange['body'],
  isStrict: boolean,
): string[] {
  if (body === undefined) return []
  const entries: [string, unknown][] =
    body instanceof URLSearchParams || body instanceof FormData ? [...body] : Object.entries(body)
  const [media] = Object.values(requestBody?.content ?? {})
  if (media?.schema === undefined) {
    return isStrict && entries.length > 0 ? ['the request body is not described'] : []
  }
  const { properties = {}, required = [] } = resolved(media.schema) as {
    properties?: Record<string, Json>
    required?: string[]
  }
  const names = new Set(entries.map(([name]) => name))
  const missing = required
    .filter((name) => !names.has(name))
    .map((name) => `the body lacks ${name}, which is said to be required`)
  return [...missing, ...fieldDifferences('body', new Map(Object.entries(properties)), entries, isStrict)]
}

/** Values of forms are text, and JSON bodies may have text in place of any scalar. */
function fieldDifferences(
  place: string,
  schemas: ReadonlyMap<string, Json>,
  entries: readonly [string, unknown][],
  isStrict: boolean,
): string[] {
  return entries.flatMap(([name, value]) => {
    const schema = schemas.get(name)
    if (schema === undefined) return isStrict ? [`${name} in the ${place} is not described`] : []
    return isAccepted(schema, value) ? [] : [`${name} in the ${place} is ${JSON.stringify(value)}`]
  })
}

function isAccepted(schema: Json, value: unknown): boolean {
  const { type, enum: words } = schema as { type?: string; enum?: string[] }
  const isScalar = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  if (schema['x-lenient'] === true || !isScalar || value === '') return true
  const text = String(value).toLowerCase()
  if (type === 'boolean') return /^(?:t|true|1|f|false|0)$/.test(text)
  if (type === 'integer') return /^[+-]?\d+$/.test(text)
  return words === undefined || words.some((word) => word.toLowerCase() === text)
}

function valueDifferences(schema: Json, value: unknown): string[] {
  const variants = Array.isArray(schema['anyOf']) ? (schema['anyOf'] as Json[]) : [schema]
  // Of the variant that is nearest.
  const [best = []] = variants
    .map((variant) => errorsIn(variant, value))
    .toSorted((one, other) => one.length - other.length)
  return best.length === 0 ? [] : [...best.slice(0, 5), `the body is ${JSON.stringify(value)?.slice(0, 300)}`]
}

/** Compiled when a response is compared with it first: that takes as long as one comparison without, and the next ones a twentieth. */
const validators = new WeakMap<Json, ReturnType<typeof Compile>>()

function errorsIn(schema: Json, value: unknown): string[] {
  const validator = validators.get(schema) ?? Compile(schema)
  validators.set(schema, validator)
  if (validator.Check(value)) return []
  const [isValid, errors] = Errors(schema, value)
  if (isValid) throw new Error('The compiled schema refuses what the schema accepts.')
  return errors.map((error) => {
    const { instancePath, message, params } = error as {
      instancePath: string
      message: string
      params: Json
    }
    const names = params['additionalProperties'] ?? params['requiredProperties'] ?? ''
    return `${instancePath || 'the body'} ${message} ${Array.isArray(names) ? names.join(', ') : ''}`.trim()
  })
}

/** The schema with its references resolved, in which objects have no further fields. */
function closed(schema: Json): Json {
  const known = closedSchemas.get(schema)
  if (known !== undefined) return known
  const copy = close(schema) as Json
  closedSchemas.set(schema, copy)
  return copy
}

const closedSchemas = new WeakMap<Json, Json>()

function close(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(close)
  if (typeof schema !== 'object' || schema === null) return schema
  const here = resolved(schema as Json)
  const copy = Object.fromEntries(Object.entries(here).map(([key, value]) => [key, close(value)]))
  return 'properties' in here ? { additionalProperties: false, ...copy } : copy
}

function resolved(schema: Json): Json {
  if (typeof schema['$ref'] !== 'string') return schema
  return description().components.schemas[nameIn(schema['$ref'])] ?? {}
}

/** The name in a reference such as `#/components/schemas/FileDetail`. */
function nameIn(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1)
}

function bodyOf({ body, headers }: RequestInit): ObservedExchange['body'] {
  if (body instanceof URLSearchParams || body instanceof FormData) return body
  if (typeof body !== 'string') return undefined
  const type = new Headers(headers).get('content-type') ?? ''
  if (type.startsWith('application/x-www-form-urlencoded')) return new URLSearchParams(body)
  const value = type.startsWith('application/json') ? parse(body) : undefined
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined
}

/** The text itself if it is not JSON: some responses are labelled so for existing clients. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
