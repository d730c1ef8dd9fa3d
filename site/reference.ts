import type { Content, Description, Operation, Parameter, Response, Schema } from '../bin/description.ts'
import { anchorOf, table } from './markdown.ts'
import { inline, listed, meaningOf, Records } from './reference-records.ts'
import { RESOURCES, type Resource } from './reference-resources.ts'

// The reference of the API, a page for each resource, generated from the description that the server sends at /api/openapi.json.

/** Where the site publishes the description itself. */
export const DESCRIPTION_ASSET = 'openapi.json'

/** A page that the build writes. */
interface ReferencePage {
  /** The file in the site, such as `api/files.md`. */
  readonly target: string
  readonly title: string
  /** One sentence. */
  readonly summary: string
}

/** The pages of the reference in the order of the menu. The first one is the introduction. */
export const REFERENCE_PAGES: readonly ReferencePage[] = [
  {
    target: 'api/index.md',
    title: 'Introduction',
    summary: 'Credentials, encodings and errors of all calls of the API, and the pages of the reference.',
  },
  ...RESOURCES.map(({ name, title, about }) => ({ target: `api/${name}.md`, title, summary: about })),
]

interface Call {
  /** In capitals. */
  readonly method: string
  /** With `:name` for parameters, as in the other documents. */
  readonly path: string
  readonly anchor: string
  readonly operation: Operation
}

/** The reference of one description. */
interface Reference {
  /** The texts of all pages by their files. */
  readonly pages: ReadonlyMap<string, string>
  /** Where each call is described, by method and path: `api/files.md#…`. */
  readonly calls: ReadonlyMap<string, string>
}

/** Makes the reference from the description. Throws if a call is on no page, or on several. */
export function makeReference(description: Description): Reference {
  const groups = new Map<Resource, Call[]>(RESOURCES.map((resource) => [resource, []]))
  const calls = new Map<string, string>()
  for (const [template, methods] of Object.entries(description.paths)) {
    const below = template.replace(/^\/api(?:2|\/v2\.1)(?=\/)/, '')
    const [resource, ...others] = RESOURCES.filter(({ paths }) => paths.test(below.replace(/\/?$/, '/')))
    if (resource === undefined || others.length > 0) {
      throw new Error(
        `${template} is on ${others.length === 0 ? 'no page' : 'several pages'} of the reference.`,
      )
    }
    for (const [word, operation] of Object.entries(methods)) {
      const method = word.toUpperCase()
      const at = template.replace(/\{(\w+)\}/g, ':$1')
      const anchor = anchorOf(`${method} ${at}`)
      groups.get(resource)?.push({ method, path: at, anchor, operation })
      calls.set(`${method} ${at}`, `api/${resource.name}.md#${anchor}`)
    }
  }
  const pages = new Map([['api/index.md', introduction(description, groups)]])
  for (const [resource, listed] of groups) {
    pages.set(`api/${resource.name}.md`, resourcePage(description, resource, listed))
  }
  return { pages, calls }
}

/** Adds links to the reference to tables of calls, whose rows begin with method and path. */
export function linkCalls(text: string, calls: Reference['calls']): string {
  return text.replace(/^\| ([A-Z]+) \| `([^`]+)` \|/gm, (row, method: string, at: string) => {
    const target = calls.get(`${method} ${at}`)
    return target === undefined ? row : `| ${method} | [\`${at}\`](./${target}) |`
  })
}

function introduction(description: Description, groups: ReadonlyMap<Resource, readonly Call[]>): string {
  const { securitySchemes, responses } = description.components
  const records = new Records(description, [])
  const kinds = (['api', 'upload', 'text'] as const).map((kind) => {
    const content = Object.values(responses[`${kind}400`]?.content ?? {})
    const types = content.flatMap(({ schema }) => (schema === undefined ? [] : [records.typeText(schema)]))
    return [ERROR_KINDS[kind], types.join(' or ')]
  })
  const statuses = Object.entries(responses)
    .filter(([name]) => name.startsWith('api'))
    .map(([name, { description: about }]) => [name.slice('api'.length), inline(about)])
  return `${[
    '# API reference',
    inline(description.info.description),
    `These pages are generated from the [description of the API](/${DESCRIPTION_ASSET}) (OpenAPI 3.1), with which the tests compare every response. Every server sends it at \`/api/openapi.json\` and shows it at \`/api/docs\`. [Endpoints](../endpoints.md) lists all calls in one table, and [Permissions](../permissions.md) says which accounts may make them.`,
    '## Pages',
    [...groups]
      .map(([{ name, title, about }, { length }]) => `- [${title}](./${name}.md), ${length} calls: ${about}`)
      .join('\n'),
    '## Credentials',
    table(
      ['Credential', 'Meaning'],
      Object.entries(securitySchemes).map(([name, { description: about }]) => [
        CREDENTIALS[name] ?? name,
        inline(about),
      ]),
    ),
    'Examples read the token from the variable `API_TOKEN`. Words in capitals stand for values of your own.',
    '## Errors',
    'Each call names the statuses that it can answer. They mean the same everywhere:',
    table(['Status', 'Meaning'], statuses),
    'The body depends on the kind of call:',
    table(['Kind', 'Body'], kinds),
    ...records.sections('###'),
  ].join('\n\n')}\n`
}

/** The names of the records in errors. */
function errorRecords({ components }: Description): string[] {
  const references = JSON.stringify(components.responses).matchAll(/#\/components\/schemas\/(\w+)/g)
  return Array.from(references, ([, name = '']) => name)
}

const ERROR_KINDS = { api: 'API', upload: 'uploads', text: 'downloads' }
const CREDENTIALS: Readonly<Record<string, string>> = { token: 'API token', libraryToken: 'library token' }

function resourcePage(description: Description, { title, about }: Resource, calls: readonly Call[]): string {
  const records = new Records(description, errorRecords(description))
  const list = calls.map(({ method, path: at, anchor, operation }) => {
    return `- [${method} \`${at}\`](#${anchor}): ${inline(operation.summary)}`
  })
  const sections = calls.map((call) => callSection(call, records))
  const shared = records.sections('###')
  return `${[
    `# ${title}`,
    `${about} [The introduction](./index.md) explains credentials and errors.`,
    list.join('\n'),
    ...sections,
    ...(shared.length === 0 ? [] : ['## Records', ...shared]),
  ].join('\n\n')}\n`
}

function callSection(call: Call, records: Records): string {
  const { method, path: at, operation } = call
  const note = operation['x-compatibility']?.note
  const parts = [
    `## ${method} \`${at}\``,
    inline(operation.summary),
    `Credential: ${credentialOf(operation)}.${limitsOf(operation)}`,
    ...(note === undefined ? [] : [`Unlike the original server: ${inline(note)}`]),
    `\`\`\`sh\n${curlOf(call, records)}\n\`\`\``,
    ...parametersOf(operation.parameters, records),
    ...bodyOf(operation.requestBody?.content, records),
    ...Object.entries(operation.responses).flatMap(([status, response]) =>
      response.$ref === undefined ? responseOf(status, response, records) : [],
    ),
  ]
  const general = Object.entries(operation.responses).filter(([, { $ref }]) => $ref !== undefined)
  if (general.length > 0) {
    const statuses = general.map(([status]) => status).join(', ')
    parts.push(`**Errors**: ${statuses}, as in [the introduction](./index.md#errors).`)
  }
  return parts.join('\n\n')
}

function credentialOf({ security: [needed] }: Operation): string {
  if (needed === undefined) return 'none'
  if (needed['libraryToken'] !== undefined) return 'the token of a library'
  const roles = needed['token'] ?? []
  if (roles.includes('admin')) return 'the API token of an administrator'
  const [scope] = roles
  return scope === undefined
    ? 'an API token'
    : `an API token, or a personal token with the scope \`${scope}\``
}

function limitsOf({ 'x-rate-limit': rate, 'x-body-limit': bytes }: Operation): string {
  const counted = rate === undefined ? '' : ` Rate limit: per ${rate === 'user' ? 'account' : 'address'}.`
  const body = bytes === undefined ? '' : ` Largest body: ${sizeText(bytes)}.`
  return counted + body
}

function sizeText(bytes: number): string {
  const kib = bytes / 1024
  return kib % 1024 === 0 ? `${kib / 1024} MiB` : `${kib} KiB`
}

function parametersOf(parameters: readonly Parameter[], records: Records): string[] {
  if (parameters.length === 0) return []
  const rows = parameters.map(({ name, in: place, required, description, schema }) => [
    `\`${name}\``,
    place,
    `${records.typeText(schema)}${required === true ? ', required' : ''}`,
    meaningOf({ ...schema, ...(description !== undefined && { description }) }),
  ])
  return ['**Parameters**', table(['Name', 'In', 'Type', 'Meaning'], rows)]
}

function bodyOf(content: Content | undefined, records: Records): string[] {
  const [first] = Object.values(content ?? {})
  if (content === undefined || first === undefined) return []
  const types = Object.keys(content).map((type) => `\`${type}\``)
  return [`**Body**: ${listed(types)}`, ...records.tables(first.schema ?? {}, 'required')]
}

function responseOf(status: string, response: Response, records: Records): string[] {
  const headers = Object.entries(response.headers ?? {}).map(
    ([name, { description }]) => `- Header \`${name}\`: ${inline(description)}`,
  )
  const bodies = Object.entries(response.content ?? {}).flatMap(([type, { schema, example }]) => [
    schema === undefined
      ? `Body: \`${type}\``
      : `Body: \`${type}\`, ${records.typeText(schema, { isInlined: true })}`,
    ...(schema === undefined ? [] : records.tables(schema, 'optional')),
    // An example of several types is that of JSON.
    ...(example === undefined || type !== 'application/json'
      ? []
      : [`\`\`\`json\n${JSON.stringify(example, undefined, 2)}\n\`\`\``]),
  ])
  return [
    `**Response ${status}**: ${inline(response.description)}`,
    ...(headers.length === 0 ? [] : [headers.join('\n')]),
    ...bodies,
  ]
}

/** The command for a call with what it requires. */
function curlOf({ method, path: at, operation }: Call, records: Records): string {
  const required = operation.parameters.filter((parameter) => parameter.required === true)
  const filled = at.replace(/:(\w+)/g, (_, name: string) => name.toUpperCase())
  const query = required
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, schema }) => `${name}=${String(sampleOf(name, records.resolve(schema)))}`)
  const url = `https://files.example.org${filled}${query.length === 0 ? '' : `?${query.join('&')}`}`
  const body = dataOf(operation.requestBody?.content, records)
  const isImplied = method === 'GET' || (method === 'POST' && body.length > 0)
  const lines = [
    `curl${isImplied ? '' : ` -X ${method}`}`,
    ...(operation.security.length === 0 ? [] : ['-H "Authorization: Token $API_TOKEN"']),
    ...body,
    `'${url}'`,
  ]
  // The command and its first argument share a line.
  return [lines.slice(0, 2).join(' '), ...lines.slice(2)].join(' \\\n  ')
}

/** The arguments for a body with its required fields. */
function dataOf(content: Content | undefined, records: Records): string[] {
  if (content === undefined) return []
  const [type, media] = Object.entries(content).at(-1) ?? []
  if (type === 'application/octet-stream') return ['--data-binary @FILE']
  const schema = records.resolve(media?.schema ?? {})
  const required = new Set(schema.required)
  const fields = Object.entries(schema.properties ?? {})
    .filter(([name]) => required.has(name))
    .map(([name, field]) => [name, records.resolve(field)] as const)
  if (type === 'multipart/form-data') {
    return fields.map(([name, field]) => `-F '${name}=${String(sampleOf(name, field))}'`)
  }
  if (fields.length === 0) return []
  const isFlat = fields.every(([, { type: kind }]) => kind !== 'array' && kind !== 'object')
  if (isFlat) return fields.map(([name, field]) => `-d '${name}=${String(sampleOf(name, field))}'`)
  const sample = Object.fromEntries(fields.map(([name, field]) => [name, sampleOf(name, field)]))
  return [`--json '${JSON.stringify(sample, undefined, 2).replaceAll('\n', '\n  ')}'`]
}

/** A value for an example: the first permitted word, or the name in capitals. */
function sampleOf(name: string, schema: Schema): unknown {
  const isFile = [schema, ...(schema.anyOf ?? [])].some(({ format }) => format === 'binary')
  if (isFile) return '@FILE'
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  if (schema.type === 'array') return [name.toUpperCase()]
  if (schema.type === 'object') return {}
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 1
  if (schema.type === 'boolean') return true
  return name === 'p' || name === 'path' ? '/PATH' : name.toUpperCase()
}
