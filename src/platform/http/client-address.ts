import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net'

/** Whether an address is a trusted proxy. */
export type ProxyTrust = (address: string) => boolean

/**
 * Parses addresses and CIDR ranges (`10.0.0.0/8`, `::1`). Throws on anything else, so that a typo stops the
 * start.
 */
export function parseTrustedProxies(entries: readonly string[]): ProxyTrust {
  if (entries.length === 0) return () => false
  const list = new BlockList()
  for (const entry of entries) addProxy(list, entry)
  // The address of a closed connection is empty.
  return (address) =>
    isIP(address) !== 0 && list.check(withoutZone(address), isIPv6(address) ? 'ipv6' : 'ipv4')
}

function addProxy(list: BlockList, entry: string): void {
  const [address = '', prefix, ...rest] = entry.trim().split('/')
  const bits = isIPv4(address) ? 32 : 128
  const length = prefix === undefined ? bits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN
  if (isIP(address) === 0 || rest.length > 0 || !(length >= 0 && length <= bits)) {
    throw new Error(`Trusted proxy "${entry}" is not an address or a range such as 10.0.0.0/8.`)
  }
  list.addSubnet(address, length, isIPv4(address) ? 'ipv4' : 'ipv6')
}

/**
 * The client's address. Each proxy appends the address it received the request from, so the list is read from
 * the right, as long as the author of the entry is trusted.
 */
export function clientAddress(
  peer: string | undefined,
  forwardedFor: string | string[] | undefined,
  trust: ProxyTrust,
): string {
  let address = plainAddress(peer ?? '')
  if (forwardedFor === undefined || !trust(address)) return address
  const hops = String(forwardedFor).split(',')
  for (let at = hops.length - 1; at >= 0; at -= 1) {
    const hop = withoutPort((hops[at] ?? '').trim())
    if (isIP(hop) === 0) return address
    address = plainAddress(hop)
    if (!trust(address)) return address
  }
  return address
}

/** The key for rate limits: an IPv4 address, or the /64 that one IPv6 subscriber owns. */
export function addressKey(address: string): string {
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? [] : Array<string>(8 - left.length - right.length).fill('0')
  const groups = [...left, ...zeros, ...right].slice(0, 4)
  // Normalized, so that all spellings of an address are counted as one.
  return groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')
}

/** Converts an IPv4-mapped IPv6 address, as a dual-stack socket reports it, to IPv4. */
export function plainAddress(address: string): string {
  return /^::ffff:\d+\.\d+\.\d+\.\d+$/i.test(address) ? address.slice(7) : address
}

/** `fe80::1` of `fe80::1%eth0`. */
function withoutZone(address: string): string {
  return address.split('%', 1)[0] ?? address
}

function withoutPort(hop: string): string {
  return /^\[([^\]]+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([^:]+):\d+$/.exec(hop)?.[1] ?? hop
}
