import path from 'node:path'
import type { BucketAddress } from '../bucket-address.ts'
import type { MailServer, SnapshotsKept } from './parsers.ts'
import type { LogLevel } from './settings.ts'
import { ConfigError, type ConfigSources, readSettings } from './sources.ts'

/** Where the relational database is stored. */
type DatabaseSetting = { kind: 'sqlite'; file: string } | { kind: 'postgres'; url: string }

/** Where blocks are stored. */
type BlocksSetting = {
  /** Of the blocks on disk, or of the cache of those in S3. */
  directory: string
  implementation: 'plain' | 'fast'
  /** The most bytes of the cache of blocks in S3. */
  cacheBytes: number
} & ({ kind: 'disk' } | { kind: 's3'; bucket: BucketAddress })

/** The HTTP implementation. Only the one of Node speaks TLS and HTTP/2. */
type TransportSetting =
  | { kind: 'fast' }
  | { kind: 'node'; certificate: { certificate: string; key: string } | undefined }

/** Where and how backups are made. */
interface BackupSetting {
  /** A folder or an `s3://` URL; undefined makes no scheduled backups. */
  target: string | undefined
  intervalSeconds: number
  /** Undefined for never. */
  verifySeconds: number | undefined
  keep: SnapshotsKept
  /** Absolute. */
  passphraseFile: string | undefined
  /** Deprecated settings. The address of the target has these values as parameters. */
  s3: {
    endpoint: string | undefined
    region: string | undefined
    accessKey: string | undefined
    secretKey: string | undefined
    sessionToken: string | undefined
    encryption: BucketAddress['encryption']
  }
}

/** How mail is sent. */
interface MailSetting {
  server: MailServer
  /** An address, or a name and an address in angle brackets. */
  from: string
  /** The base URL of links in mails. A request does not decide it, because anybody may send one. */
  publicUrl: string
}

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
  /** Connections to PostgreSQL at most. */
  databaseConnections: number
  /** Format in which PostgreSQL sends results that contain bytes. */
  databaseResults: 'binary' | 'text'
  blocks: BlocksSetting
  /** Whether to start on storage that can lose acknowledged data. */
  unsafeStorage: 'refuse' | 'allow'
  /** The database is backed up there before a migration; undefined: it is not. */
  preMigrationBackups: string | undefined
  /** Signs tickets and sessions. `file` keeps the generated one when none is given. */
  boundarySearch: 'plain' | 'fast'
  secret: { file: string; given: string | undefined }
  /** In bytes; undefined means unlimited. */
  limits: {
    quota: number | undefined
    upload: number | undefined
    archive: number | undefined
    /** Of all archives on disk together. */
    archiveSpace: number | undefined
    copy: number | undefined
    /** Bytes of unfinished uploads in the libraries of one owner, and the part of it that may come through links. */
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
  /** Seconds between condemning and deleting data. */
  gcGraceSeconds: number
  /** Disk space kept for deleting and signing in on a full disk. */
  reserveBytes: number
  /** Days in which every stored block is read once; 0 for never. */
  scrubDays: number
  /** Days the audit log is kept; -1 keeps everything. */
  auditDays: number
  /** Days that activities stay in the feed; -1 for all. */
  activityDays: number
  /** How long a server that stops still serves. */
  drainSeconds: number
  ticketSeconds: number
  /** Days without use after which a sign-in ends; 0 for never. */
  sessionIdleDays: number
  /** The fewest characters of a new password of an account. */
  passwordLength: number
  /** Which accounts need a second factor, and how many days they have after the first sign-in. */
  secondFactor: { requiredOf: 'off' | 'administrators' | 'everyone'; graceDays: number }
  /** The fewest characters of a link's password. */
  linkPasswordLength: number
  rateLimit: boolean
  http: {
    transport: TransportSetting
    /** Bytes of all request bodies that are buffered. */
    bodyMemory: number
    /** Open at the same time. */
    connections: number
    connectionsPerAddress: number
  }
  quotaStatus: 443 | 500
  /** What of new givers waits for acceptance. */
  shareAcceptance: 'off' | 'new-givers'
  /** Opens `/metrics` without an account; undefined leaves it to administrators. */
  metricsToken: string | undefined
  /** A URI; undefined serves no security.txt. */
  securityContact: string | undefined
  /** Whether webhooks may call addresses within our own network. */
  webhookPrivate: boolean
  backup: BackupSetting
  /** Undefined sends no mail. */
  mail: MailSetting | undefined
  /** Mails with links that an account may send in 24 hours. */
  mailPerDay: number
  /** Server processes on this machine. `auto`: as many as the load needs, at most one for each core. */
  processes: number | 'auto'
  /** Undefined leaves the number to the server. */
  threads: number | undefined
  log: LogLevel
  /** Sentences for the operator about settings of earlier releases. */
  notices: readonly string[]
}

/** Reads flags, environment and `carrel.json`, in that order of precedence. Throws ConfigError. */
export function readConfig(sources: ConfigSources = {}): Config {
  const { values, dataDirectory, notices } = readSettings(sources)
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
        : values.database,
    databaseConnections: values.databaseConnections,
    databaseResults: values.databaseResults,
    blocks: blocksAt(values.blocks, dataDirectory, {
      implementation: values.disk,
      cacheBytes: values.blockCacheMb * 1_000_000,
    }),
    boundarySearch: values.boundarySearch,
    unsafeStorage: values.unsafeStorage,
    preMigrationBackups: values.preMigrationBackup ? path.join(dataDirectory, 'before-migration') : undefined,
    secret: { file: path.join(dataDirectory, 'secret'), given: values.secret },
    limits: {
      quota: values.defaultQuotaMb,
      upload: values.maxUploadMb,
      archive: values.maxArchiveMb,
      archiveSpace: values.archiveSpaceMb,
      copy: values.maxCopyMb,
      unfinished: values.maxUnfinishedMb,
      linkUnfinished:
        values.maxLinkUnfinishedMb === 'a tenth'
          ? Math.max((values.maxUnfinishedMb ?? 0) / 10, 10_000_000_000)
          : values.maxLinkUnfinishedMb,
      history: values.maxHistoryMb,
    },
    entries: { library: values.maxLibraryEntries, commit: values.maxCommitEntries },
    tasks: { atOnce: values.tasksAtOnce, files: values.maxCopyFiles },
    historyDays: values.historyDays,
    reserveBytes: values.reserveMb * 1_000_000,
    gcGraceSeconds: values.gcGraceSeconds,
    scrubDays: values.scrubDays,
    auditDays: values.auditDays,
    activityDays: values.activityDays,
    drainSeconds: values.drainSeconds,
    ticketSeconds: values.ticketSeconds,
    sessionIdleDays: values.sessionIdleDays,
    passwordLength: values.passwordLength,
    secondFactor: { requiredOf: values.secondFactor, graceDays: values.secondFactorGraceDays },
    linkPasswordLength: values.linkPasswordLength,
    rateLimit: values.rateLimit,
    http: {
      transport: transportOf(values, sources.cwd ?? process.cwd()),
      bodyMemory: values.bodyMemoryMb,
      connections: values.maxConnections,
      connectionsPerAddress: values.maxConnectionsPerAddress,
    },
    quotaStatus: values.quotaStatus,
    shareAcceptance: values.shareAcceptance,
    metricsToken: values.metricsToken,
    securityContact: values.securityContact,
    webhookPrivate: values.webhookPrivate,
    backup: backupOf(values, sources.cwd ?? process.cwd()),
    mail: mailOf(values, sources.cwd ?? process.cwd()),
    mailPerDay: values.mailPerDay,
    processes: values.processes,
    threads: values.threads,
    log: values.log,
    notices,
  }
}

/** The block store at an address, in a data folder. */
export function blocksAt(
  address: 'disk' | BucketAddress,
  dataDirectory: string,
  { implementation, cacheBytes }: Pick<BlocksSetting, 'implementation' | 'cacheBytes'>,
): BlocksSetting {
  return address === 'disk'
    ? { kind: 'disk', directory: path.join(dataDirectory, 'blocks'), implementation, cacheBytes }
    : {
        kind: 's3',
        bucket: address,
        directory: path.join(dataDirectory, 'block-cache'),
        implementation,
        cacheBytes,
      }
}

function backupOf(values: ReturnType<typeof readSettings>['values'], cwd: string): BackupSetting {
  return {
    target: values.backupTarget,
    intervalSeconds: values.backupIntervalHours * 3600,
    verifySeconds: values.backupVerifyDays === 0 ? undefined : values.backupVerifyDays * 86_400,
    keep: {
      last: values.backupKeepLast ?? values.backupKeep.last,
      daily: values.backupKeepDaily ?? values.backupKeep.daily,
      weekly: values.backupKeepWeekly ?? values.backupKeep.weekly,
      monthly: values.backupKeepMonthly ?? values.backupKeep.monthly,
    },
    passphraseFile:
      values.backupPassphraseFile === undefined ? undefined : path.resolve(cwd, values.backupPassphraseFile),
    s3: {
      endpoint: values.backupS3Endpoint,
      region: values.backupS3Region,
      accessKey: values.backupS3AccessKey,
      secretKey: values.backupS3SecretKey,
      sessionToken: values.backupS3SessionToken,
      encryption: values.backupS3Sse,
    },
  }
}

/** Throws a ConfigError if a setting is missing. */
function mailOf(
  { mailUrl, mailFrom, publicUrl }: ReturnType<typeof readSettings>['values'],
  cwd: string,
): MailSetting | undefined {
  if (mailUrl === undefined) return undefined
  if (mailFrom === undefined) throw new ConfigError('Set CARREL_MAIL_FROM too, or unset CARREL_MAIL_URL.')
  if (publicUrl === undefined) {
    throw new ConfigError('Set CARREL_PUBLIC_URL too, or unset CARREL_MAIL_URL: mails contain links.')
  }
  const ca = mailUrl.ca === undefined ? undefined : path.resolve(cwd, mailUrl.ca)
  return { server: { ...mailUrl, ca }, from: mailFrom, publicUrl }
}

/** Throws a ConfigError if the settings contradict each other. */
function transportOf(
  { http, tlsCert, tlsKey }: ReturnType<typeof readSettings>['values'],
  cwd: string,
): TransportSetting {
  if (tlsCert === undefined && tlsKey === undefined) {
    return http === 'node' ? { kind: 'node', certificate: undefined } : { kind: 'fast' }
  }
  if (tlsCert === undefined || tlsKey === undefined) {
    throw new ConfigError('Set both CARREL_TLS_CERT and CARREL_TLS_KEY, or neither.')
  }
  if (http === 'fast') {
    throw new ConfigError(
      'Set CARREL_HTTP to node, or unset CARREL_TLS_CERT and CARREL_TLS_KEY: only the node implementation serves HTTPS.',
    )
  }
  return {
    kind: 'node',
    certificate: { certificate: path.resolve(cwd, tlsCert), key: path.resolve(cwd, tlsKey) },
  }
}
