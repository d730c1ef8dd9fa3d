import { isIP } from 'node:net'
import type { BucketAddress } from '../bucket-address.ts'
import {
  type DatabaseAddress,
  type MailServer,
  malformed,
  parseBlocks,
  parseChoice,
  parseDatabase,
  parseFileCount,
  parseInteger,
  parseMailFrom,
  parseMailServer,
  parseMegabytes,
  parsePublicUrl,
  parseSecurityContact,
  parseServerSideEncryption,
  parseSnapshotsKept,
  parseSwitch,
  parseTrustedProxies,
  type SnapshotsKept,
} from './parsers.ts'

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'

/** One setting as an operator sees it, for `--help` and the docs. */
interface Setting {
  /** The key in `carrel.json`; the flag is `--name`. */
  name: string
  env: string
  flag: string
  /** What stands for the value in help text, as in `--port <number>`. */
  placeholder: string
  default: string
  meaning: string
  /** What to use instead of a setting of an earlier release, which still works. */
  replaced: string | undefined
  /** No flag, and no key in the file. The variable begins with CARREL_TEST_. */
  internal: boolean
}

/** A row of the table. */
export interface Definition<T> {
  placeholder: string
  fallback: T
  /** In words, where the fallback is not a text or a number that speaks for itself. */
  default?: string
  meaning: string
  /** Completes "Set CARREL_X to …". */
  expects: string
  /** The value is never repeated in a message. */
  secret?: true
  /** Only tests and measurements set it, as CARREL_TEST_…. It was a setting of the product, which is ignored now. */
  internal?: true
  /** What to use instead. The old names still work, but nothing lists them. */
  replaced?: string
  parse(text: string): T | typeof malformed
}

const define = <T>(definition: Definition<T>): Definition<T> => definition

const logLevels: readonly LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

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

const keep = define<number | undefined>({
  placeholder: 'number',
  fallback: undefined,
  default: 'as in CARREL_BACKUP_KEEP',
  meaning: 'snapshots kept',
  expects: 'a whole number from 0 to 10000',
  replaced: 'CARREL_BACKUP_KEEP',
  parse: (text) => parseInteger(text, 0, 10_000),
})

const IN_TARGET =
  'the parameters endpoint, region, path_style, sse and sse_kms_key_id in CARREL_BACKUP_TARGET, as in CARREL_BLOCKS'
const PROFILE = 'the AWS credentials of the account, or profile=NAME in CARREL_BACKUP_TARGET'

// The key of a row gives all its names: publicUrl is CARREL_PUBLIC_URL, --public-url and "public-url".
export const definitions = {
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
  database: define<DatabaseAddress>({
    placeholder: 'database',
    fallback: 'sqlite',
    default: 'sqlite in the data folder',
    meaning:
      'sqlite, or the URL of a PostgreSQL database: postgres://user:password@host/name, with several hosts separated by commas',
    expects: 'sqlite or a URL that begins with postgres://',
    secret: true,
    parse: parseDatabase,
  }),
  databaseConnections: define<number>({
    placeholder: 'number',
    fallback: 10,
    meaning:
      'connections to PostgreSQL at most, besides one for fast reads; half of them are kept from searches',
    expects: 'a whole number from 2 to 1000',
    parse: (text) => parseInteger(text, 2, 1000),
  }),
  databaseResults: define<'binary' | 'text'>({
    placeholder: 'binary|text',
    fallback: 'binary',
    meaning:
      'format in which PostgreSQL sends results that contain bytes; as text, bytes are hexadecimal and twice as long',
    expects: 'binary or text',
    parse: parseChoice(['binary', 'text']),
    internal: true,
  }),
  blocks: define<'disk' | BucketAddress>({
    placeholder: 'store',
    fallback: 'disk',
    default: 'disk in the data folder',
    meaning:
      'where blocks are stored: disk, or s3://bucket/prefix with the parameters endpoint, region, path_style, sse, sse_kms_key_id and profile',
    expects: 'disk, or s3://bucket/prefix?endpoint=https://s3.example.org&region=us-east-1&path_style=1',
    parse: parseBlocks,
  }),
  blockCacheMb: define<number>({
    placeholder: 'megabytes',
    fallback: 10_000,
    meaning: 'space on disk for blocks that were read from S3 lately; 1 MB is 1,000,000 bytes',
    expects: 'a whole number of megabytes from 0 to 100000000',
    parse: (text) => parseInteger(text, 0, 100_000_000),
  }),
  disk: define<'plain' | 'fast'>({
    placeholder: 'plain|fast',
    fallback: 'fast',
    meaning:
      'how blocks are read and written on disk; plain uses no threads or caches, and suits network file systems',
    expects: 'plain or fast',
    parse: parseChoice(['plain', 'fast']),
  }),
  boundarySearch: define<'plain' | 'fast'>({
    placeholder: 'plain|fast',
    fallback: 'fast',
    meaning:
      'how the boundaries of blocks are found in uploads: fast compares 16 bytes at a time with WebAssembly, plain one; the blocks are the same',
    expects: 'plain or fast',
    parse: parseChoice(['plain', 'fast']),
    internal: true,
  }),
  unsafeStorage: define<'refuse' | 'allow'>({
    placeholder: 'refuse|allow',
    fallback: 'refuse',
    meaning:
      'what to do on storage that can lose acknowledged data: PostgreSQL with fsync or full_page_writes off, SQLite on a network file system',
    expects: 'refuse or allow',
    parse: parseChoice(['refuse', 'allow']),
  }),
  preMigrationBackup: define<boolean>({
    placeholder: 'on|off',
    fallback: true,
    default: 'on',
    meaning:
      'copies the database to before-migration/ in the data folder before its schema is migrated; off skips it',
    expects: 'on or off',
    parse: parseSwitch,
  }),
  secret: define<string | undefined>({
    placeholder: 'text',
    fallback: undefined,
    default: 'generated into the data folder',
    meaning: 'key that signs tickets and sessions, at least 16 characters; shared by all nodes',
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
  maxCopyMb: megabytes('most bytes that one task may copy or move to another library, or extract'),
  maxCopyFiles: define<number | undefined>({
    placeholder: 'number',
    fallback: undefined,
    default: 'unlimited',
    meaning: 'most files that one task may copy or move to another library, or extract; 0 means unlimited',
    expects: 'a whole number of files, or 0 for unlimited',
    parse: parseFileCount,
    replaced: 'CARREL_MAX_COPY_MB and CARREL_MAX_LIBRARY_ENTRIES',
  }),
  maxUnfinishedMb: megabytes(
    'unfinished uploads in the libraries of one account: chunks, and as much again of blocks and objects without a commit; a tenth of it, and at least 10,000 MB, may come through links',
    100_000,
  ),
  maxLinkUnfinishedMb: define<number | undefined | 'a tenth'>({
    ...megabytes('part of that which may come through links'),
    fallback: 'a tenth',
    replaced: 'CARREL_MAX_UNFINISHED_MB, of which a tenth may come through links',
  }),
  maxHistoryMb: megabytes(
    'older versions and deleted files in the libraries of one account, counted every hour',
  ),
  maxLibraryEntries: entries(10_000_000, 'most files and folders in a library'),
  maxCommitEntries: define<number | undefined>({
    ...entries(1_000_000, 'most files and folders that one commit may add, or one push may change'),
    replaced: 'CARREL_MAX_LIBRARY_ENTRIES',
  }),
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
  reserveMb: define({
    placeholder: 'MB',
    fallback: 32,
    meaning: 'disk space kept for deleting and signing in when the disk is full; 0 for none',
    expects: 'a whole number of megabytes from 0 to 1000000',
    parse: (text) => parseInteger(text, 0, 1_000_000),
    internal: true,
  }),
  gcGraceSeconds: define({
    placeholder: 'seconds',
    fallback: 86_400,
    meaning: 'seconds between finding data that nothing refers to and deleting it',
    expects: 'a whole number of seconds from 0 to 31536000',
    parse: (text) => parseInteger(text, 0, 31_536_000),
  }),
  scrubDays: define({
    placeholder: 'days',
    fallback: 30,
    meaning: 'days in which every stored block is read once and compared with its id; 0 disables it',
    expects: 'a whole number of days from 0 to 3650',
    parse: (text) => parseInteger(text, 0, 3650),
  }),
  auditDays: define({
    placeholder: 'days',
    fallback: -1,
    meaning: 'days that the audit log is kept; -1 keeps all of it',
    expects: 'a whole number of days, or -1 to keep the whole log',
    parse: (text) => parseInteger(text, -1, 1_000_000),
  }),
  activityDays: define({
    placeholder: 'days',
    fallback: -1,
    meaning: 'days that activities stay in the feed; -1 keeps all of them, 0 none',
    expects: 'a whole number of days, or -1 to keep the whole feed',
    parse: (text) => parseInteger(text, -1, 1_000_000),
  }),
  drainSeconds: define({
    placeholder: 'seconds',
    fallback: 0,
    meaning:
      'how long a server that stops still serves while /readyz says draining, so that a proxy notices; longer than its check interval',
    expects: 'a whole number of seconds from 0 to 3600',
    parse: (text) => parseInteger(text, 0, 3600),
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
  passwordLength: define({
    placeholder: 'number',
    fallback: 8,
    meaning: 'minimum length of a new account password',
    // Generated ones have 23 characters.
    expects: 'a whole number from 1 to 20',
    parse: (text) => parseInteger(text, 1, 20),
  }),
  secondFactor: define<'off' | 'administrators' | 'everyone'>({
    placeholder: 'off|administrators|everyone',
    fallback: 'off',
    meaning: 'which accounts need a second factor to sign in',
    expects: 'off, administrators or everyone',
    parse: (text) => (text === 'off' || text === 'administrators' || text === 'everyone' ? text : malformed),
  }),
  secondFactorGraceDays: define({
    placeholder: 'days',
    fallback: 14,
    meaning:
      'days from the first sign-in of an account that needs a second factor, in which it signs in without one; 0 means none',
    expects: 'a whole number of days from 0 to 365',
    parse: (text) => parseInteger(text, 0, 365),
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
    parse: parseSwitch,
  }),
  http: define<'fast' | 'node' | undefined>({
    placeholder: 'fast|node',
    fallback: undefined,
    default: 'fast; node with a certificate',
    meaning:
      "HTTP implementation: fast is Carrel's own parser for plain HTTP/1.1, node is Node's, which can also serve HTTPS and HTTP/2",
    expects: 'fast or node',
    parse: (text) => (text === 'fast' || text === 'node' ? text : malformed),
  }),
  tlsCert: define<string | undefined>({
    placeholder: 'file',
    fallback: undefined,
    default: 'none',
    meaning:
      'PEM file of the certificate and its chain; with it Carrel serves HTTPS and HTTP/2, and reloads the file when it changes',
    expects: 'the path of a file',
    parse: (text) => (text.includes('\0') ? malformed : text),
  }),
  tlsKey: define<string | undefined>({
    placeholder: 'file',
    fallback: undefined,
    default: 'none',
    meaning: 'PEM file of the private key of that certificate',
    expects: 'the path of a file',
    parse: (text) => (text.includes('\0') ? malformed : text),
  }),
  bodyMemoryMb: define({
    placeholder: 'megabytes',
    fallback: 256_000_000,
    default: '256',
    meaning:
      'memory for buffered request bodies of all clients together, and as much again for responses that clients have not read; one address or account may use a quarter of it',
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
  shareAcceptance: define<'off' | 'new-givers'>({
    placeholder: 'off|new-givers',
    fallback: 'off',
    meaning:
      'what people share with an account for the first time, and groups they add it to, wait until the account accepts them (new-givers), or take effect at once (off)',
    expects: 'off or new-givers',
    parse: (text) => (text === 'off' || text === 'new-givers' ? text : malformed),
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
    parse: parseSwitch,
  }),
  metricsToken: define<string | undefined>({
    placeholder: 'text',
    fallback: undefined,
    default: 'none',
    meaning:
      'token for /metrics, at least 16 characters, sent as "Authorization: Bearer …"; administrators can also use their API token',
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
  backupTarget: define<string | undefined>({
    placeholder: 'target',
    fallback: undefined,
    default: 'none',
    meaning:
      'where the server backs itself up: a folder, or s3://bucket/prefix with the parameters of CARREL_BLOCKS; without it there are no scheduled backups',
    expects: 'the path of a folder, or s3://bucket/prefix?endpoint=https://s3.example.org&region=us-east-1',
    parse: (text) =>
      text === '' || text.includes('\0') || (text.startsWith('s3://') && parseBlocks(text) === malformed)
        ? malformed
        : text,
  }),
  backupIntervalHours: define<number>({
    placeholder: 'hours',
    fallback: 24,
    meaning: 'hours between scheduled backups',
    expects: 'a whole number of hours from 1 to 8760',
    parse: (text) => parseInteger(text, 1, 8760),
  }),
  backupVerifyDays: define<number>({
    placeholder: 'days',
    fallback: 30,
    meaning: 'days between scheduled verifications that read the whole backup; 0 means never',
    expects: 'a whole number of days from 0 to 3650',
    parse: (text) => parseInteger(text, 0, 3650),
  }),
  backupKeep: define<SnapshotsKept>({
    placeholder: 'counts',
    fallback: { last: 3, daily: 7, weekly: 5, monthly: 12 },
    default: 'last=3,daily=7,weekly=5,monthly=12',
    meaning:
      'snapshots kept when scheduled backups are pruned: the newest ones, and the newest of as many days, weeks and months; what is left out is 0',
    expects: 'counts such as last=3,daily=7,weekly=5,monthly=12',
    parse: parseSnapshotsKept,
  }),
  backupKeepLast: keep,
  backupKeepDaily: keep,
  backupKeepWeekly: keep,
  backupKeepMonthly: keep,
  backupPassphraseFile: define<string | undefined>({
    placeholder: 'file',
    fallback: undefined,
    default: 'none',
    meaning: 'file whose content encrypts backups; without it they are not encrypted',
    expects: 'the path of a file',
    parse: (text) => (text === '' || text.includes('\0') ? malformed : text),
  }),
  backupS3Endpoint: define<string | undefined>({
    placeholder: 'url',
    fallback: undefined,
    default: 'that of Amazon',
    meaning: 'URL of the S3 service for backups to s3://…; buckets are part of the path',
    expects: 'a URL such as https://s3.example.org',
    parse: parsePublicUrl,
    replaced: IN_TARGET,
  }),
  backupS3Region: define<string | undefined>({
    placeholder: 'name',
    fallback: undefined,
    default: 'us-east-1',
    meaning: 'region of that service',
    expects: 'the name of a region',
    parse: (text) => (/^[a-z0-9-]+$/i.test(text) ? text : malformed),
    replaced: IN_TARGET,
  }),
  backupS3AccessKey: define<string | undefined>({
    placeholder: 'id',
    fallback: undefined,
    default: 'none',
    meaning: 'id of the access key for that service',
    expects: 'the id of an access key',
    parse: (text) => (/^\S+$/.test(text) ? text : malformed),
    replaced: PROFILE,
  }),
  backupS3SecretKey: define<string | undefined>({
    placeholder: 'text',
    fallback: undefined,
    default: 'none',
    meaning: 'secret of that access key',
    expects: 'the secret of an access key',
    secret: true,
    parse: (text) => (/^\S+$/.test(text) ? text : malformed),
    replaced: PROFILE,
  }),
  backupS3SessionToken: define<string | undefined>({
    placeholder: 'text',
    fallback: undefined,
    default: 'none',
    meaning: 'session token of that access key, if it is temporary',
    expects: 'a session token',
    secret: true,
    parse: (text) => (/^\S+$/.test(text) ? text : malformed),
    replaced: PROFILE,
  }),
  backupS3Sse: define<BucketAddress['encryption']>({
    placeholder: 'algorithm',
    fallback: undefined,
    default: 'none',
    meaning:
      'server-side encryption that is requested for every object of a backup: AES256, aws:kms, or aws:kms: and the id of a key',
    expects: 'AES256, aws:kms, or aws:kms: and the id of a key',
    parse: parseServerSideEncryption,
    replaced: IN_TARGET,
  }),
  mailUrl: define<MailServer | undefined>({
    placeholder: 'url',
    fallback: undefined,
    default: 'none',
    meaning:
      'mail server: smtp://user:password@host:587, which uses STARTTLS, or smtps://user:password@host:465; without it no mail is sent',
    expects:
      'a URL such as smtp://user:password@mail.example.org:587 or smtps://…, with the parameters tls=off and ca=FILE if needed',
    secret: true,
    parse: parseMailServer,
  }),
  mailFrom: define<string | undefined>({
    placeholder: 'address',
    fallback: undefined,
    default: 'none',
    meaning: 'sender of mail: an address, also as Name <address>',
    expects: 'an e-mail address, such as carrel@example.org or Carrel <carrel@example.org>',
    parse: parseMailFrom,
  }),
  mailPerDay: define<number>({
    placeholder: 'number',
    fallback: 100,
    meaning: 'mails with links that an account may send to addresses in 24 hours',
    expects: 'a whole number from 0 to 100000',
    parse: (text) => parseInteger(text, 0, 100_000),
  }),
  processes: define<number | 'auto'>({
    placeholder: 'number',
    fallback: 1,
    meaning:
      'server processes on this machine, each a node, run by a supervisor that listens for them; auto is one for each core',
    expects: 'a whole number from 1 to 64, or auto',
    parse: (text) => (text === 'auto' ? text : parseInteger(text, 1, 64)),
  }),
  threads: count('threads that hash large uploads, and documents indexed at the same time'),
  log: define<LogLevel>({
    placeholder: 'level',
    fallback: 'info',
    meaning: 'log level, from trace to fatal, or silent; JSON lines unless on a terminal',
    expects: 'trace, debug, info, warn, error, fatal or silent',
    parse: parseChoice(logLevels),
  }),
}

type Definitions = typeof definitions
/** The parsed value of every setting, by key. */
export type Values = { [K in keyof Definitions]: Definitions[K] extends Definition<infer T> ? T : never }

export const kebab = (key: string) => key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
export const variable = (name: string) => `CARREL_${name.toUpperCase().replaceAll('-', '_')}`

/** Every row of the table, with those that nothing lists. */
export const allSettings: readonly Setting[] = Object.entries(definitions).map(([key, definition]) => {
  const { internal, replaced, meaning, placeholder } = definition as Definition<unknown>
  const name = kebab(key)
  return {
    name,
    env: variable(internal ? `test-${name}` : name),
    flag: `--${name}`,
    placeholder,
    default: definition.default ?? JSON.stringify(definition.fallback).replaceAll('"', ''),
    meaning,
    replaced,
    internal: internal === true,
  }
})

/** The settings of the product, in the order help and docs show them. */
export const settings = allSettings.filter(({ replaced, internal }) => !internal && replaced === undefined)
