import { readFileSync } from 'node:fs'
import path from 'node:path'
import { anchorOf, escapeText, table } from './markdown.ts'

// The reference of the API, a page for each resource, generated from the description that the server sends at /api/openapi.json.

/** Where the site publishes the description itself. */
export const DESCRIPTION_ASSET = 'openapi.json'

/** The description, relative to the repository. */
export const DESCRIPTION_FILE = 'src/pages/assets/openapi.json'

interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly description?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly prefixItems?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema
  readonly required?: readonly string[]
  readonly format?: string
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly 'x-lenient'?: boolean
}

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly description?: string
  readonly schema: Schema
}

type Content = Readonly<Record<string, { readonly schema?: Schema; readonly example?: unknown }>>

interface Response {
  /** The error of a surface, which every call of it can answer. */
  readonly $ref?: string
  readonly description: string
  readonly content?: Content
  readonly headers?: Readonly<Record<string, { readonly description: string }>>
}

interface Operation {
  readonly summary: string
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, Response>>
  readonly 'x-rate-limit'?: string
  readonly 'x-body-limit'?: number
  readonly 'x-compatibility'?: { readonly note?: string }
}

interface Description {
  readonly info: { readonly description: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, { readonly description: string }>>
    readonly responses: Readonly<Record<string, Response>>
    readonly schemas: Readonly<Record<string, Schema>>
  }
}

/** A page of the reference. */
interface Resource {
  /** The name of its file. */
  readonly name: string
  readonly title: string
  /** One sentence. */
  readonly about: string
  /** Matches the paths of its calls without `/api2` and `/api/v2.1`. */
  readonly paths: RegExp
}

/** The pages in the order of the menu. Each call is on exactly one of them. */
const RESOURCES: readonly Resource[] = [
  {
    name: 'sign-in',
    title: 'Sign-in and tokens',
    about: 'Signing in, API tokens, personal tokens, devices, sessions and forgotten passwords.',
    paths:
      /^\/(?:auth-token|auth|ping|server-info|client-login|logout-device|device-authorization|device-wiped|devices|personal-tokens|sessions|password-reset|confirm-contact-email|webdav-secret)\//,
  },
  {
    name: 'accounts',
    title: 'Accounts',
    about: 'The account of the caller, its profile and picture, and finding other accounts.',
    paths: /^\/(?:account|accounts|user|user-avatar|user-list|avatars|search-user|onboarding|media)\//,
  },
  {
    name: 'libraries',
    title: 'Libraries',
    about: 'Listing, creating, renaming and deleting libraries, their passwords, owners and sizes.',
    paths:
      /^\/(?:default-repo|repo-tokens|repos|repos\/\{repo_id\}(?:\/(?:set-password|usage|download-info|owner))?)\/$/,
  },
  {
    name: 'folders',
    title: 'Folders',
    about: 'Listing, creating, renaming and deleting folders.',
    paths: /^\/repos\/\{repo_id\}\/(?:dir(?:\/(?:detail|metadata|sub_repo))?|thumbhashes)\/$/,
  },
  {
    name: 'files',
    title: 'Files',
    about: 'Creating, renaming, locking and describing files, their text and their thumbnails.',
    paths:
      /^\/repos\/\{repo_id\}\/(?:file(?:\/(?:detail|metadata|text|archive-entries|extract-archive))?|thumbnail)\/$|^\/thumbnail\//,
  },
  {
    name: 'transfers',
    title: 'Uploads and downloads',
    about: 'The content of files: uploads, also in chunks and blocks, downloads, and archives of folders.',
    paths:
      /^\/(?:seafhttp|cancel-zip-task|query-zip-progress)\/|^\/repos\/.*\/(?:(?:upload|update)(?:-blks)?-link|download-link|file-uploaded-bytes|zip-task)\//,
  },
  {
    name: 'copies',
    title: 'Copy, move and delete',
    about: 'Copying, moving and deleting several files and folders at once, also between libraries.',
    paths:
      /^\/(?:copy-move-task|query-copy-move-progress|move-folder-merge)\/|^\/repos\/(?:(?:a?sync-)?batch[\w-]*)\/|^\/repos\/\{repo_id\}\/fileops\//,
  },
  {
    name: 'history',
    title: 'History and trash',
    about: 'Earlier states of libraries and files, deleted files, and deleted libraries.',
    paths:
      /^\/(?:trash|deleted-repos|repo_history_changes)\/|^\/repos\/\{repo_id\}\/(?:(?:file|dir)\/)?(?:history|new_history|commits|trash2?|revision|revert|history-limit)\//,
  },
  {
    name: 'sharing',
    title: 'Sharing',
    about: 'Sharing libraries, folders and files with accounts and groups.',
    paths:
      /^\/(?:shared-repos|shared-folders|shared-files|beshared-repos|shareable-groups)\/|^\/repos\/public\/|^\/repos\/.*\/(?:shared[-_]items|shared-entries|share-info|custom-share-permissions|access-explanation|related-users)\//,
  },
  {
    name: 'links',
    title: 'Links',
    about: 'Links to files and folders for people without an account, and links that take uploads.',
    paths:
      /^\/(?:share-links|upload-links|multi-share-links|shared-links|smart-links?|share-link-zip-task|send-share-link|send-upload-link)\/|^\/repos\/.*\/(?:share-links|upload-links|download-shared-links|upload-shared-links|shared-link)\//,
  },
  {
    name: 'groups',
    title: 'Groups',
    about: 'Groups, their members, and the libraries that are shared with them.',
    paths: /^\/(?:groups|search-group)\//,
  },
  {
    name: 'comments',
    title: 'Comments and tags',
    about: 'Comments on files, who is notified of them, and tags.',
    paths: /^\/repos\/.*\/(?:comments|participants?|repo-tags|file-tags|tagged-files)\//,
  },
  {
    name: 'search',
    title: 'Search, photos and stars',
    about: 'Finding files by name and text, the timeline of photos, and starred items.',
    paths: /^\/(?:search|search-file|photos|starred-items|starredfiles)\//,
  },
  {
    name: 'events',
    title: 'Activities, events and notifications',
    about: 'Activities in libraries, live events, webhooks and notifications.',
    paths:
      /^\/(?:events|activities|notifications?|all-notifications|unseen_messages|monitored-repos|tool-calls)\/|^\/repos\/.*\/webhooks\//,
  },
  {
    name: 'library-tokens',
    title: 'Library tokens',
    about: 'Tokens that open one library for a program, and the calls for their holders.',
    paths: /^\/via-repo-token\/|^\/repos\/.*\/repo-api-tokens\//,
  },
  {
    name: 'admin-accounts',
    title: 'Administration: accounts',
    about: 'Accounts, groups and devices of the whole server, for administrators.',
    paths: /^\/admin\/(?:users|groups|devices|generate-user-auth-token|search-user)\//,
  },
  {
    name: 'admin-libraries',
    title: 'Administration: libraries',
    about: 'Libraries, deleted libraries and links of the whole server, for administrators.',
    paths: /^\/admin\/(?:libraries|trash-libraries|search-library|share-links|upload-links)\//,
  },
  {
    name: 'admin-server',
    title: 'Administration: server',
    about: 'The state of the server, its audit log, its statistics and its setup, for administrators.',
    paths: /^\/admin\/(?:audit-log|search-failures|setup|statistics|status|sysinfo|test-mail|usage)\//,
  },
]

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

/** Makes the reference from the description in the repository. Throws if a call is on no page, or on several. */
export function makeReference(root: string): Reference {
  const description = JSON.parse(readFileSync(path.join(root, DESCRIPTION_FILE), 'utf8')) as Description
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

/** The records that a page names. Those that stand in tables of others are described at its end. */
class Records {
  readonly #schemas: Description['components']['schemas']
  readonly #elsewhere: ReadonlySet<string>
  readonly #linked = new Set<string>()

  /** `elsewhere` are those that the introduction describes. */
  constructor({ components }: Description, elsewhere: readonly string[]) {
    this.#schemas = components.schemas
    this.#elsewhere = new Set(elsewhere)
  }

  /** The schema that a reference names. Throws if there is none. */
  resolve(schema: Schema): Schema {
    const name = nameOf(schema)
    if (name === undefined) return schema
    const found = this.#schemas[name]
    if (found === undefined) throw new Error(`The description has no schema ${name}.`)
    return found
  }

  /** The type of a value. Records are links, except the one whose fields follow (`isInlined`). */
  typeText(schema: Schema, { isInlined = false } = {}): string {
    const name = nameOf(schema)
    const here = this.resolve(schema)
    if (name !== undefined && here.properties !== undefined) {
      return isInlined ? `\`${name}\`` : this.#link(name)
    }
    if (here.const !== undefined) return `\`${JSON.stringify(here.const)}\``
    if (here.enum !== undefined) return listed(here.enum.map((word) => `\`${String(word) || '""'}\``))
    if (here.anyOf !== undefined) {
      return [...new Set(here.anyOf.map((variant) => this.typeText(variant)))].join(' or ')
    }
    if (here.prefixItems !== undefined) {
      return `array of ${here.prefixItems.map((item) => this.typeText(item)).join(', then ')}`
    }
    if (here.type === 'array') return `array of ${this.typeText(here.items ?? {}, { isInlined })}`
    if (here.additionalProperties !== undefined) {
      return `map of ${this.typeText(here.additionalProperties, { isInlined })}`
    }
    if (here.format === 'binary') return 'file'
    if (here.maximum !== undefined) {
      const range = here.minimum === undefined ? 'up' : `from ${here.minimum}`
      return `${here.type} ${range} to ${here.maximum}`
    }
    return here.type ?? 'any value'
  }

  /** Tables of the fields of a value. Fields are marked where they are required, or where they are optional. */
  tables(schema: Schema, mark: Mark): string[] {
    const rows = this.#rows(schema, '', mark, true)
    return rows.length === 0 ? [] : [table(['Field', 'Type', 'Meaning'], rows)]
  }

  /** The records that were linked on this page, and those that they link. */
  sections(level: string): string[] {
    const sections = new Map<string, string>()
    // Grows while it is iterated.
    for (const name of this.#linked) {
      const schema = this.#schemas[name] ?? {}
      const about = schema.description === undefined ? [] : [inline(schema.description)]
      sections.set(name, [`${level} ${name}`, ...about, ...this.tables(schema, 'optional')].join('\n\n'))
    }
    return [...sections].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text)
  }

  #link(name: string): string {
    if (this.#elsewhere.has(name)) return `[${name}](./index.md#${anchorOf(name)})`
    this.#linked.add(name)
    return `[${name}](#${anchorOf(name)})`
  }

  /**
   * A row for each field, and for those of objects without a name in it. `place` is where the value is, such as `nodes[]`. Records in it are
   * described at the end of the page, unless `withRecords`.
   */
  #rows(schema: Schema, place: string, mark: Mark, withRecords: boolean): string[][] {
    const here = this.resolve(schema)
    if (schema.$ref !== undefined && here.properties !== undefined && !withRecords) return []
    if (here.items !== undefined) return this.#rows(here.items, `${place}[]`, mark, withRecords)
    if (here.additionalProperties !== undefined) {
      return this.#rows(here.additionalProperties, below(place, '*'), mark, withRecords)
    }
    if (here.anyOf !== undefined) {
      return here.anyOf.flatMap((variant) => this.#rows(variant, place, mark, false))
    }
    const required = new Set(here.required)
    return Object.entries(here.properties ?? {}).flatMap(([name, field]) => {
      const isMarked = required.has(name) === (mark === 'required')
      const type = `${this.typeText(field)}${isMarked ? `, ${mark}` : ''}`
      const at = below(place, name)
      const meaning = meaningOf({ ...this.resolve(field), ...field })
      return [[`\`${at}\``, type, meaning], ...this.#rows(field, at, mark, false)]
    })
  }
}

/** Which fields of a table are marked. */
type Mark = 'required' | 'optional'

function below(place: string, name: string): string {
  return place === '' ? name : `${place}.${name}`
}

function nameOf({ $ref }: Schema): string | undefined {
  return $ref?.split('/').at(-1)
}

/** What a field means, with its default. */
function meaningOf(schema: Schema): string {
  // The description of a value that may be null is that of the value.
  const descriptions = [schema, ...(schema.description === undefined ? (schema.anyOf ?? []) : [])].flatMap(
    ({ description }) => (description === undefined ? [] : [inline(description)]),
  )
  return [
    ...new Set(descriptions),
    ...(schema.default === undefined ? [] : [`Default: \`${JSON.stringify(schema.default)}\`.`]),
    ...(schema['x-lenient'] === true ? ['Invalid values count as not sent.'] : []),
  ].join(' ')
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}

/** A text of the description, in which only code has a meaning. */
function inline(text: string): string {
  return text
    .replaceAll('\n', ' ')
    .split(/(`[^`]+`)/)
    .map((part, index) => (index % 2 === 1 ? part.replaceAll('|', '\\|') : escapeText(part)))
    .join('')
}
