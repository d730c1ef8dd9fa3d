import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import path from 'node:path'

/** Where the relational database is stored. */
export type DatabaseSetting =
  | { kind: 'sqlite'; file: string }
  | { kind: 'postgres'; url: string; implementation: 'plain' | 'fast' }

/** Where blocks are stored. */
export type BlocksSetting =
  | { kind: 'disk'; directory: string; implementation: 'plain' | 'fast' }
  | ({ kind: 's3' } & S3Address & S3Keys)

export interface S3Address {
  bucket: string
  /** No slash at either end; empty for the whole bucket. */
  prefix: string
  /** Undefined means the public endpoint of the region. */
  endpoint: string | undefined
  region: string | undefined
  pathStyle: boolean
}

export interface S3Keys {
  accessKeyId: string
  secretAccessKey: string
  sessionToken: string | undefined
}

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'

/** Everything an operator can choose, read once at the start and never again. */
export interface Config {
  host: string
  /** 0 asks for a free port. */
  port: number
  /** Absolute. */
  dataDirectory: string
  /** Without a trailing slash. Undefined: scheme and host come from the request. */
  publicUrl: string | undefined
  /** Addresses and CIDR ranges whose `X-Forwarded-*` headers are believed. */
  trustedProxies: readonly string[]
  /** Made at the first start. Without a password, one is generated. */
  administrator: { email: string; password: string | undefined }
  database: DatabaseSetting
  blocks: BlocksSetting
  /** Signs tickets and sessions. `file` keeps the generated one when none is given. */
  secret: { file: string; given: string | undefined }
  /** In bytes; undefined means unlimited. */
  limits: {
    quota: number | undefined
    upload: number | undefined
    archive: number | undefined
    /** Of all archives on disk together. */
    archiveSpace: number | undefined
    copy: number | undefined
    /** Of what is unfinished in the libraries of one owner, and of it through links. */
    unfinished: number | undefined
    linkUnfinished: number | undefined
    /** Of older versions and trash in the libraries of one owner. */
    history: number | undefined
  }
  /** Files and folders; undefined means unlimited. */
  entries: { library: number | undefined; commit: number | undefined }
  /** Copies and moves between libraries outside of a request. */
  tasks: {
    /** How many are carried out side by side. */
    atOnce: number
    /** The most files of one; undefined means unlimited. */
    files: number | undefined
  }
  /** For new libraries; -1 keeps everything, 0 keeps no history. */
  historyDays: number
  /** Days the audit log is kept; -1 keeps everything. */
  auditDays: number
  ticketSeconds: number
  /** Days without use after which a sign-in ends; 0 for never. */
  sessionIdleDays: number
  /** The fewest characters of a link's password. */
  linkPasswordLength: number
  rateLimit: boolean
  /** What clients may take of the server before they are refused. */
  http: {
    /** Bytes of all request bodies that are buffered. */
    bodyMemory: number
    /** Open at the same time. */
    connections: number
    connectionsPerAddress: number
  }
  quotaStatus: 443 | 500
  /** Opens `/metrics` without an account; undefined leaves it to administrators. */
  metricsToken: string | undefined
  /** A URI; undefined serves no security.txt. */
  securityContact: string | undefined
  /** Whether webhooks may call addresses within our own network. */
  webhookPrivate: boolean
  /** Undefined leaves the number to the server. */
  processes: number | undefined
  threads: number | undefined
  log: LogLevel
}

/** The operator's settings cannot be used; the message is one sentence that says what to do. */
export class ConfigError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ConfigError'
  }
}

/** One setting as an operator sees it, for `--help` and the docs. */
export interface Setting {
  /** The key in `carrel.json`; the flag is `--name`. */
  name: string
  env: string
  flag: string
  /** What stands for the value in help text, as in `--port <number>`. */
  placeholder: string
  default: string
  meaning: string
}

interface Definition<T> {
  placeholder: string
  fallback: T
  /** In words, where the fallback is not a text or a number that speaks for itself. */
  default?: string
  meaning: string
  /** Completes "Set CARREL_X to …". */
  expects: string
  /** The value is never repeated in a message. */
  secret?: true
  parse(text: string): T | typeof malformed
}

const malformed = Symbol('malformed')

const define = <T>(definition: Definition<T>): Definition<T> => definition

const megabytes = (meaning: string, fallback?: number) =>
  define<number | undefined>({
    placeholder: 'megabytes',
    fallback: fallback === undefined ? undefined : fallback * 1_000_000,
    default: fallback === undefined ? 'unlimited' : String(fallback),
    meaning: `${meaning}; 0 means unlimited, 1 MB is 1,000,000 bytes`,
    expects: 'a number of megabytes, or 0 for unlimited',
    parse: parseMegabytes,
  })

const entries = (fallback: number, meaning: string) =>
  define<number | undefined>({
    placeholder: 'number',
    fallback,
    meaning: `${meaning}; 0 means unlimited`,
    expects: 'a whole number of files and folders, or 0 for unlimited',
    parse: parseFileCount,
  })

const count = (meaning: string) =>
  define<number | undefined>({
    placeholder: 'number',
    fallback: undefined,
    default: 'chosen for this machine',
    meaning,
    expects: 'a whole number from 1 to 1024',
    parse: (text) => parseInteger(text, 1, 1024),
  })

// The key of a row gives all its names: publicUrl is CARREL_PUBLIC_URL, --public-url and "public-url".
const definitions = {
  host: define({
    placeholder: 'address',
    fallback: '127.0.0.1',
    meaning: 'address to listen on',
    expects: 'an IP address or host name',
    parse: (text) => (isIP(text) !== 0 || /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(text) ? text : malformed),
  }),
  port: define({
    placeholder: 'number',
    fallback: 8000,
    meaning: 'port to listen on; 0 picks a free port and prints it',
    expects: 'a whole number from 0 to 65535',
    parse: (text) => parseInteger(text, 0, 65_535),
  }),
  data: define({
    placeholder: 'folder',
    fallback: './data',
    meaning: 'folder that holds all data',
    expects: 'the path of a folder',
    parse: (text) => (text.includes('\0') ? malformed : text),
  }),
  publicUrl: define<string | undefined>({
    placeholder: 'url',
    fallback: undefined,
    default: 'from the request',
    meaning: 'base URL of generated links',
    expects: 'a URL such as https://files.example.org, without user, query or fragment',
    parse: parsePublicUrl,
  }),
  trustedProxies: define<readonly string[]>({
    placeholder: 'addresses',
    fallback: [],
    default: 'none',
    meaning:
      'proxies whose X-Forwarded-* headers are trusted: addresses and CIDR ranges, separated by commas',
    expects: 'IP addresses or CIDR ranges with commas between them, such as 127.0.0.1,10.0.0.0/8',
    parse: parseTrustedProxies,
  }),
  adminEmail: define({
    placeholder: 'email',
    fallback: 'admin@carrel.local',
    meaning: 'administrator created at the first start, if no account exists',
    expects: 'an e-mail address',
    parse: (text) =>
      /^[^\s@/:]+@[^\s@/:]+$/.test(text) && text.length <= 255 ? text.toLowerCase() : malformed,
  }),
  adminPassword: define<string | undefined>({
    placeholder: 'password',
    fallback: undefined,
    default: 'generated, and shown once',
    meaning: "that administrator's password",
    expects: 'a password',
    secret: true,
    parse: (text) => text,
  }),
  database: define<'sqlite' | { kind: 'postgres'; url: string }>({
    placeholder: 'database',
    fallback: 'sqlite',
    default: 'sqlite in the data folder',
    meaning: 'sqlite, or the URL of a PostgreSQL database: postgres://user:password@host/name',
    expects: 'sqlite or a URL that begins with postgres://',
    secret: true,
    parse: parseDatabase,
  }),
  postgres: define<'plain' | 'fast'>({
    placeholder: 'plain|fast',
    fallback: 'fast',
    meaning: 'PostgreSQL protocol implementation: fast for our own messages, plain for those of the driver',
    expects: 'plain or fast',
    parse: (text) => (text === 'plain' || text === 'fast' ? text : malformed),
  }),
  blocks: define<'disk' | S3Address>({
    placeholder: 'store',
    fallback: 'disk',
    default: 'disk in the data folder',
    meaning:
      'disk, or s3://bucket/prefix?endpoint=…&region=…&path_style=1 with keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
    expects: 'disk or s3://bucket/prefix with no options but endpoint, region and path_style',
    parse: parseBlocks,
  }),
  disk: define<'plain' | 'fast'>({
    placeholder: 'plain|fast',
    fallback: 'fast',
    meaning:
      'how blocks are read and written on disk; plain uses no O_DIRECT, threads or caches, and suits network file systems',
    expects: 'plain or fast',
    parse: (text) => (text === 'plain' || text === 'fast' ? text : malformed),
  }),
  secret: define<string | undefined>({
    placeholder: 'text',
    fallback: undefined,
    default: 'generated into the data folder',
    meaning: 'key that signs tickets and sessions; shared by all nodes',
    expects: 'at least 16 characters',
    secret: true,
    parse: (text) => (text.length >= 16 ? text : malformed),
  }),
  defaultQuotaMb: megabytes('storage quota of an account that has none of its own'),
  maxUploadMb: megabytes('largest file that may be uploaded'),
  maxArchiveMb: megabytes('largest folder that may be downloaded as an archive'),
  archiveSpaceMb: megabytes(
    'disk space of all archives together: half of it per account, half for all link visitors together',
    50_000,
  ),
  maxCopyMb: megabytes('most bytes that one task may copy or move to another library'),
  maxCopyFiles: define<number | undefined>({
    placeholder: 'number',
    fallback: undefined,
    default: 'unlimited',
    meaning: 'most files that one task may copy or move to another library; 0 means unlimited',
    expects: 'a whole number of files, or 0 for unlimited',
    parse: parseFileCount,
  }),
  maxUnfinishedMb: megabytes(
    'unfinished uploads in the libraries of one account: chunks, and as much again of blocks and objects without a commit',
    100_000,
  ),
  maxLinkUnfinishedMb: megabytes('part of that which may come through links', 10_000),
  maxHistoryMb: megabytes(
    'older versions and deleted files in the libraries of one account, counted every hour',
  ),
  maxLibraryEntries: entries(10_000_000, 'most files and folders in a library'),
  maxCommitEntries: entries(
    1_000_000,
    'most files and folders that one commit may add, or one push may change',
  ),
  tasksAtOnce: define({
    placeholder: 'number',
    fallback: 5,
    meaning: 'copy and move tasks that run at the same time; others wait, and accounts take turns',
    expects: 'a whole number from 1 to 64',
    parse: (text) => parseInteger(text, 1, 64),
  }),
  historyDays: define({
    placeholder: 'days',
    fallback: -1,
    meaning: 'days that new libraries keep their history; -1 keeps all of it, 0 none',
    expects: 'a whole number of days, or -1 to keep all history',
    parse: (text) => parseInteger(text, -1, 1_000_000),
  }),
  auditDays: define({
    placeholder: 'days',
    fallback: -1,
    meaning: 'days that the audit log is kept; -1 keeps all of it',
    expects: 'a whole number of days, or -1 to keep the whole log',
    parse: (text) => parseInteger(text, -1, 1_000_000),
  }),
  ticketSeconds: define({
    placeholder: 'seconds',
    fallback: 3600,
    meaning: 'lifetime of upload, download and archive links',
    expects: 'a whole number of seconds from 1 to 31536000',
    parse: (text) => parseInteger(text, 1, 31_536_000),
  }),
  sessionIdleDays: define({
    placeholder: 'days',
    fallback: 180,
    meaning: 'days after which an unused sign-in expires; 0 means never',
    expects: 'a whole number of days, or 0 for sign-ins that do not expire',
    parse: (text) => parseInteger(text, 0, 1_000_000),
  }),
  linkPasswordLength: define({
    placeholder: 'number',
    fallback: 10,
    meaning: 'minimum length of a link password',
    expects: 'a whole number from 1 to 100',
    parse: (text) => parseInteger(text, 1, 100),
  }),
  rateLimit: define<boolean>({
    placeholder: 'on|off',
    fallback: true,
    default: 'on',
    meaning: 'rate limits; off is for tests and trusted networks',
    expects: 'on or off',
    parse: (text) => (text === 'on' ? true : text === 'off' ? false : malformed),
  }),
  bodyMemoryMb: define({
    placeholder: 'megabytes',
    fallback: 256_000_000,
    default: '256',
    meaning:
      'memory for buffered request bodies of all clients together; one address or account may use a quarter of it',
    expects: 'a number of megabytes from 64 to 65536',
    parse: (text) => {
      const megabytes = parseInteger(text, 64, 65_536)
      return megabytes === malformed ? malformed : megabytes * 1_000_000
    },
  }),
  maxConnections: define({
    placeholder: 'number',
    fallback: 10_000,
    meaning: 'maximum number of connections; lower if the system allows fewer open files',
    expects: 'a whole number from 16 to 1000000',
    parse: (text) => parseInteger(text, 16, 1_000_000),
  }),
  maxConnectionsPerAddress: define({
    placeholder: 'number',
    fallback: 256,
    meaning:
      'maximum number of connections per IPv4 address or IPv6 /64, and of concurrent requests per address behind a trusted proxy; this machine and trusted proxies are exempt',
    expects: 'a whole number from 1 to 1000000',
    parse: (text) => parseInteger(text, 1, 1_000_000),
  }),
  quotaStatus: define<443 | 500>({
    placeholder: 'status',
    fallback: 500,
    meaning: 'status of link calls when the quota is exceeded; 443 is for newer clients',
    expects: '500 or 443',
    parse: (text) => (text === '500' ? 500 : text === '443' ? 443 : malformed),
  }),
  webhookPrivate: define<boolean>({
    placeholder: 'on|off',
    fallback: false,
    default: 'off',
    meaning: 'allows webhooks to call private addresses: this machine and its networks',
    expects: 'on or off',
    parse: (text) => (text === 'on' ? true : text === 'off' ? false : malformed),
  }),
  metricsToken: define<string | undefined>({
    placeholder: 'text',
    fallback: undefined,
    default: 'none',
    meaning:
      'token for /metrics, sent as "Authorization: Bearer …"; administrators can also use their API token',
    expects: 'at least 16 characters without spaces',
    secret: true,
    parse: (text) => (/^\S{16,}$/.test(text) ? text : malformed),
  }),
  securityContact: define<string | undefined>({
    placeholder: 'address',
    fallback: undefined,
    default: 'none',
    meaning:
      'contact for vulnerability reports in /.well-known/security.txt; without it that file does not exist',
    expects: 'an e-mail address, or a URI that begins with mailto:, https:// or tel:',
    parse: parseSecurityContact,
  }),
  processes: count('serving processes on this machine that share one data folder'),
  threads: count('threads that hash large uploads, and documents indexed at the same time'),
  log: define<LogLevel>({
    placeholder: 'level',
    fallback: 'info',
    meaning: 'log level, from trace to fatal, or silent; JSON lines unless on a terminal',
    expects: 'trace, debug, info, warn, error, fatal or silent',
    parse: (text) => logLevels.find((level) => level === text) ?? malformed,
  }),
}

const logLevels: readonly LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

type Definitions = typeof definitions
type Values = { [K in keyof Definitions]: Definitions[K] extends Definition<infer T> ? T : never }

const kebab = (key: string) => key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
const variable = (name: string) => `CARREL_${name.toUpperCase().replaceAll('-', '_')}`

/** Every setting, in the order help and docs show them. */
export const settings: readonly Setting[] = Object.entries(definitions).map(([key, definition]) => ({
  name: kebab(key),
  env: variable(kebab(key)),
  flag: `--${kebab(key)}`,
  placeholder: definition.placeholder,
  default: definition.default ?? JSON.stringify(definition.fallback).replaceAll('"', ''),
  meaning: definition.meaning,
}))

export interface ConfigSources {
  env?: Readonly<Record<string, string | undefined>>
  /** Flags as given, by name: `public-url`, or `publicUrl` as commander spells it. */
  flags?: Readonly<Record<string, unknown>>
  cwd?: string
}

/** Reads flags, environment and `carrel.json`, in that order of precedence. Throws ConfigError. */
export function readConfig(sources: ConfigSources = {}): Config {
  const { env = process.env, flags = {}, cwd = process.cwd() } = sources
  const given = [fromFlags(flags), fromEnvironment(env)]
  const dataDirectory = path.resolve(cwd, valueOf('data', definitions.data, given))
  given.push(fromFile(path.join(dataDirectory, 'carrel.json')))

  const entries = Object.entries(definitions).map(([key, definition]) => [
    key,
    valueOf<unknown>(kebab(key), definition, given),
  ])
  const values = Object.fromEntries(entries) as Values
  return {
    host: values.host,
    port: values.port,
    dataDirectory,
    publicUrl: values.publicUrl,
    trustedProxies: values.trustedProxies,
    administrator: { email: values.adminEmail, password: values.adminPassword },
    database:
      values.database === 'sqlite'
        ? { kind: 'sqlite', file: path.join(dataDirectory, 'carrel.db') }
        : { ...values.database, implementation: values.postgres },
    blocks:
      values.blocks === 'disk'
        ? { kind: 'disk', directory: path.join(dataDirectory, 'blocks'), implementation: values.disk }
        : { kind: 's3', ...values.blocks, region: values.blocks.region ?? regionOf(env), ...s3Keys(env) },
    secret: { file: path.join(dataDirectory, 'secret'), given: values.secret },
    limits: {
      quota: values.defaultQuotaMb,
      upload: values.maxUploadMb,
      archive: values.maxArchiveMb,
      archiveSpace: values.archiveSpaceMb,
      copy: values.maxCopyMb,
      unfinished: values.maxUnfinishedMb,
      linkUnfinished: values.maxLinkUnfinishedMb,
      history: values.maxHistoryMb,
    },
    entries: { library: values.maxLibraryEntries, commit: values.maxCommitEntries },
    tasks: { atOnce: values.tasksAtOnce, files: values.maxCopyFiles },
    historyDays: values.historyDays,
    auditDays: values.auditDays,
    ticketSeconds: values.ticketSeconds,
    sessionIdleDays: values.sessionIdleDays,
    linkPasswordLength: values.linkPasswordLength,
    rateLimit: values.rateLimit,
    http: {
      bodyMemory: values.bodyMemoryMb,
      connections: values.maxConnections,
      connectionsPerAddress: values.maxConnectionsPerAddress,
    },
    quotaStatus: values.quotaStatus,
    metricsToken: values.metricsToken,
    securityContact: values.securityContact,
    webhookPrivate: values.webhookPrivate,
    processes: values.processes,
    threads: values.threads,
    log: values.log,
  }
}

/** What one source says: by setting, the text and the name the operator knows it by. */
type Given = Map<string, { text: string; where: string }>

function valueOf<T>(name: string, definition: Definition<T>, given: readonly Given[]): T {
  const found = given.map((source) => source.get(name)).find((value) => value !== undefined)
  if (found === undefined) return definition.fallback
  const value = found.text === '' ? malformed : definition.parse(found.text)
  if (value !== malformed) return value
  const shown = definition.secret || found.text === '' ? '' : `, not ${JSON.stringify(found.text)}`
  throw new ConfigError(`Set ${found.where} to ${definition.expects}${shown}.`)
}

function fromFlags(flags: Readonly<Record<string, unknown>>): Given {
  const given: Given = new Map()
  for (const [key, value] of Object.entries(flags)) {
    const setting = settings.find(({ name }) => name === kebab(key))
    if (setting === undefined) {
      throw new ConfigError(`Leave out --${kebab(key)}: there is no such flag (see carrel serve --help).`)
    }
    if (value === undefined) continue
    const text = asText(value)
    if (text === undefined) throw new ConfigError(`Give ${setting.flag} one value.`)
    given.set(setting.name, { text, where: setting.flag })
  }
  return given
}

function fromEnvironment(env: Readonly<Record<string, string | undefined>>): Given {
  const given: Given = new Map()
  for (const [key, text] of Object.entries(env)) {
    // The test run talks to its own children under this prefix.
    if (!key.startsWith('CARREL_') || key.startsWith('CARREL_TEST_')) continue
    const setting = settings.find((candidate) => candidate.env === key)
    if (setting === undefined) {
      throw new ConfigError(
        `Unset ${key} or correct its name: there is no such setting (see carrel serve --help).`,
      )
    }
    // An empty variable is how service files and compose files say "not set".
    if (text !== undefined && text !== '') given.set(setting.name, { text, where: key })
  }
  return given
}

function fromFile(file: string): Given {
  const given: Given = new Map()
  for (const [key, value] of Object.entries(readJsonObject(file))) {
    const setting = settings.find(({ name, env }) => name === key || env === key)
    const quoted = JSON.stringify(key)
    if (setting === undefined) {
      throw new ConfigError(`Remove ${quoted} from ${file} or correct its name: there is no such setting.`)
    }
    if (setting.name === 'data') {
      throw new ConfigError(`Remove ${quoted} from ${file}: the file is found by that folder, so use --data.`)
    }
    if (given.has(setting.name)) {
      throw new ConfigError(
        `Remove "${setting.name}" or "${setting.env}" from ${file}: they are one setting.`,
      )
    }
    const text = asText(value)
    if (text === undefined) {
      throw new ConfigError(`Write ${quoted} in ${file} as text, a number, or true or false.`)
    }
    given.set(setting.name, { text, where: `${quoted} in ${file}` })
  }
  return given
}

function readJsonObject(file: string): object {
  let value: unknown
  try {
    value = JSON.parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
    if (code === 'ENOENT' || code === 'ENOTDIR') return {}
    if (cause instanceof SyntaxError)
      throw new ConfigError(`Correct ${file}: it is not valid JSON.`, { cause })
    throw new ConfigError(`Make ${file} readable for this account (${String(code)}).`, { cause })
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw new ConfigError(`Correct ${file}: it must hold one JSON object.`)
}

function asText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return String(value)
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(',')
  return undefined
}

function parseInteger(text: string, min: number, max: number): number | typeof malformed {
  if (!/^(-?[1-9]\d{0,14}|0)$/.test(text)) return malformed
  const value = Number(text)
  return value >= min && value <= max ? value : malformed
}

function parseMegabytes(text: string): number | undefined | typeof malformed {
  if (!/^\d{1,9}(\.\d{1,6})?$/.test(text)) return malformed
  const bytes = Math.round(Number(text) * 1_000_000)
  return bytes === 0 ? undefined : bytes
}

function parseFileCount(text: string): number | undefined | typeof malformed {
  const files = parseInteger(text, 0, 1_000_000_000)
  return files === 0 ? undefined : files
}

function parsePublicUrl(text: string): string | typeof malformed {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) return malformed
  if (url.username || url.password || /[?#]/.test(text)) return malformed
  return url.href.replace(/\/+$/, '')
}

/** A URI, as RFC 9116 wants it. */
function parseSecurityContact(text: string): string | typeof malformed {
  if (/^[^\s@/:]+@[^\s@/:]+$/.test(text)) return `mailto:${text}`
  return /^(?:mailto:|https:\/\/|tel:)\S+$/.test(text) && URL.canParse(text) ? text : malformed
}

function parseTrustedProxies(text: string): readonly string[] | typeof malformed {
  const ranges = text.split(',').map((range) => range.trim())
  const sound = ranges.every((range) => {
    const [address = '', bits, ...rest] = range.split('/')
    const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
    return rest.length === 0 && most > 0 && (bits === undefined || parseInteger(bits, 0, most) !== malformed)
  })
  return sound ? ranges : malformed
}

function parseDatabase(text: string): 'sqlite' | { kind: 'postgres'; url: string } | typeof malformed {
  if (text === 'sqlite') return 'sqlite'
  return /^postgres(ql)?:\/\//.test(text) && URL.canParse(text) ? { kind: 'postgres', url: text } : malformed
}

function parseBlocks(text: string): 'disk' | S3Address | typeof malformed {
  if (text === 'disk') return 'disk'
  const url = URL.parse(text)
  if (url?.protocol !== 's3:' || url.username || url.password || url.hash) return malformed
  if (!/^[a-z0-9][a-z0-9._-]{1,62}$/i.test(url.host)) return malformed
  const prefix = url.pathname.replace(/^\/+|\/+$/g, '')
  if (!/^[\w.~/-]*$/.test(prefix)) return malformed
  const options = url.searchParams
  if (![...options.keys()].every((key) => ['endpoint', 'region', 'path_style'].includes(key)))
    return malformed
  const endpoint = options.get('endpoint') ?? undefined
  if (endpoint !== undefined && !/^https?:\/\/[^/?#@]+\/?$/.test(endpoint)) return malformed
  const pathStyle = options.get('path_style') ?? '0'
  if (pathStyle !== '0' && pathStyle !== '1') return malformed
  return {
    bucket: url.host,
    prefix,
    endpoint: endpoint?.replace(/\/$/, ''),
    region: options.get('region') ?? undefined,
    pathStyle: pathStyle === '1',
  }
}

const regionOf = (env: Readonly<Record<string, string | undefined>>) =>
  env['AWS_REGION'] || env['AWS_DEFAULT_REGION'] || undefined

function s3Keys(env: Readonly<Record<string, string | undefined>>): S3Keys {
  const accessKeyId = env['AWS_ACCESS_KEY_ID']
  const secretAccessKey = env['AWS_SECRET_ACCESS_KEY']
  if (!accessKeyId || !secretAccessKey) {
    throw new ConfigError(
      'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, because CARREL_BLOCKS names an S3 bucket.',
    )
  }
  return { accessKeyId, secretAccessKey, sessionToken: env['AWS_SESSION_TOKEN'] || undefined }
}
