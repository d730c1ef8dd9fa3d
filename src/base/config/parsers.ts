import { isIP } from 'node:net'
import { type BucketAddress, formatBucketAddress, parseBucketAddress } from '../bucket-address.ts'

/** The result of a parser for text it does not accept. */
export const malformed = Symbol('malformed')

/** The value of CARREL_DATABASE. */
export type DatabaseAddress = 'sqlite' | { kind: 'postgres'; url: string }

/** The value of CARREL_BACKUP_KEEP. */
export interface SnapshotsKept {
  readonly last: number
  readonly daily: number
  readonly weekly: number
  readonly monthly: number
}

/** The value of CARREL_MAIL_URL. */
export interface MailServer {
  readonly host: string
  readonly port: number
  /** `implicit` from the first byte, `starttls` or nothing else, `optional` if the server offers it, `off` never. */
  readonly tls: 'implicit' | 'starttls' | 'optional' | 'off'
  readonly user: string | undefined
  readonly password: string
  /** A PEM file with the certificate of a private authority. */
  readonly ca: string | undefined
}

/** One of `choices`. */
export function parseChoice<const T extends string>(
  choices: readonly T[],
): (text: string) => T | typeof malformed {
  return (text) => choices.find((choice) => choice === text) ?? malformed
}

export function parseSwitch(text: string): boolean | typeof malformed {
  return text === 'on' ? true : text === 'off' ? false : malformed
}

export function parseInteger(text: string, min: number, max: number): number | typeof malformed {
  if (!/^(-?[1-9]\d{0,14}|0)$/.test(text)) return malformed
  const value = Number(text)
  return value >= min && value <= max ? value : malformed
}

export function parseMegabytes(text: string): number | undefined | typeof malformed {
  if (!/^\d{1,9}(\.\d{1,6})?$/.test(text)) return malformed
  const bytes = Math.round(Number(text) * 1_000_000)
  return bytes === 0 ? undefined : bytes
}

export function parseFileCount(text: string): number | undefined | typeof malformed {
  const files = parseInteger(text, 0, 1_000_000_000)
  return files === 0 ? undefined : files
}

export function parsePublicUrl(text: string): string | typeof malformed {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) return malformed
  if (url.username || url.password || /[?#]/.test(text)) return malformed
  return url.href.replace(/\/+$/, '')
}

/** A URI, as RFC 9116 wants it. */
export function parseSecurityContact(text: string): string | typeof malformed {
  if (/^[^\s@/:]+@[^\s@/:]+$/.test(text)) return `mailto:${text}`
  return /^(?:mailto:|https:\/\/|tel:)\S+$/.test(text) && URL.canParse(text) ? text : malformed
}

export function parseTrustedProxies(text: string): readonly string[] | typeof malformed {
  const ranges = text.split(',').map((range) => range.trim())
  const sound = ranges.every((range) => {
    const [address = '', bits, ...rest] = range.split('/')
    const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
    return rest.length === 0 && most > 0 && (bits === undefined || parseInteger(bits, 0, most) !== malformed)
  })
  return sound ? ranges : malformed
}

export function parseDatabase(text: string): DatabaseAddress | typeof malformed {
  if (text === 'sqlite') return 'sqlite'
  const [, before = '', hosts = '', after = ''] =
    /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/s.exec(text) ?? []
  const isSound = before !== '' && hosts.split(',').every((host) => URL.canParse(`${before}${host}${after}`))
  return isSound ? { kind: 'postgres', url: text } : malformed
}

/** `disk`, or the address of a bucket. */
export function parseBlocks(text: string): 'disk' | BucketAddress | typeof malformed {
  return text === 'disk' ? text : (parseBucketAddress(text) ?? malformed)
}

/** The text that `parseBlocks` reads as this address. */
export function formatBlocks(address: 'disk' | BucketAddress): string {
  return address === 'disk' ? address : formatBucketAddress(address)
}

/** `last=3,daily=7`. Counts that are not given are 0. */
export function parseSnapshotsKept(text: string): SnapshotsKept | typeof malformed {
  const kept = { last: 0, daily: 0, weekly: 0, monthly: 0 }
  for (const part of text.split(',')) {
    const [, unit, digits = ''] = /^ *(last|daily|weekly|monthly)=(\d+) *$/.exec(part) ?? []
    const count = parseInteger(digits, 0, 10_000)
    if (unit === undefined || count === malformed) return malformed
    kept[unit as keyof typeof kept] = count
  }
  return kept
}

/** `AES256`, `aws:kms`, or `aws:kms:` and the id of a key. */
export function parseServerSideEncryption(text: string): BucketAddress['encryption'] | typeof malformed {
  const [, algorithm, keyId] = /^(AES256|aws:kms)(?::(\S+))?$/.exec(text) ?? []
  if (algorithm === 'aws:kms') return { algorithm, keyId }
  return algorithm === 'AES256' && keyId === undefined ? { algorithm, keyId } : malformed
}

/**
 * `smtp://` and `smtps://`. A password is never sent unencrypted, unless `tls=off` says so or the server is on this machine.
 */
export function parseMailServer(text: string): MailServer | typeof malformed {
  const url = URL.parse(text)
  if (url === null || !/^smtps?:$/.test(url.protocol) || url.hostname === '') return malformed
  if (!/^\/?$/.test(url.pathname) || url.hash !== '') return malformed
  const { searchParams } = url
  const tls = searchParams.get('tls') ?? undefined
  if (![...searchParams.keys()].every((name) => name === 'tls' || name === 'ca')) return malformed
  const isImplicit = url.protocol === 'smtps:'
  if (tls !== undefined && (tls !== 'off' || isImplicit)) return malformed
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const isLocal = /^(?:localhost|127\.[\d.]+|::1)$/.test(host)
  const weakest = isLocal || url.username === '' ? 'optional' : 'starttls'
  try {
    return {
      host,
      port: url.port === '' ? (isImplicit ? 465 : 587) : Number(url.port),
      tls: isImplicit ? 'implicit' : tls === 'off' ? 'off' : weakest,
      user: url.username === '' ? undefined : decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
      ca: searchParams.get('ca') ?? undefined,
    }
  } catch {
    return malformed
  }
}

/** An address, or a name and an address in angle brackets. */
export function parseMailFrom(text: string): string | typeof malformed {
  return /^(?:[^<>"\p{C}]+ <)?[^\s@<>"(),:;\p{C}]+@[a-z0-9.-]+>?$/iu.test(text) &&
    text.includes('<') === text.endsWith('>')
    ? text
    : malformed
}
