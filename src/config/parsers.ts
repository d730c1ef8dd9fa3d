import { isIP } from 'node:net'

/** The result of a parser for text it does not accept. */
export const malformed = Symbol('malformed')

/** The value of CARREL_DATABASE. */
export type DatabaseAddress = 'sqlite' | { kind: 'postgres'; url: string }

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
  return /^postgres(ql)?:\/\//.test(text) && URL.canParse(text) ? { kind: 'postgres', url: text } : malformed
}
