import { BlockList, isIP, isIPv4 } from 'node:net'

// Addresses that are not public: loopback, private and provider networks, and reserved ranges. See the IANA
// registries of special-purpose addresses.
const SPECIAL_IPV4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const

// Everything outside 2000::/3 is special. Within it these are, some because they embed an IPv4 address.
const SPECIAL_IPV6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const

const special = new BlockList()
for (const [net, prefix] of SPECIAL_IPV4) special.addSubnet(net, prefix, 'ipv4')
for (const [net, prefix] of SPECIAL_IPV6) special.addSubnet(net, prefix, 'ipv6')
const unicast = new BlockList()
unicast.addSubnet('2000::', 3, 'ipv6')

/** Whether an address is publicly routable. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !special.check(address, 'ipv4')
  return isIP(address) === 6 && unicast.check(address, 'ipv6') && !special.check(address, 'ipv6')
}

/** The host of a URL, without the brackets of an IPv6 address. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '')
}

const MAX_URL = 2048

/** Validates a webhook URL. Names are resolved only when it is called. */
export function parseWebhookUrl(text: string, allowPrivate: boolean): URL | undefined {
  if (text.length > MAX_URL || !URL.canParse(text)) return undefined
  const url = new URL(text)
  if (!/^https?:$/.test(url.protocol) || url.hostname === '') return undefined
  // Credentials in a URL would be stored and shown in clear text.
  if (url.username !== '' || url.password !== '') return undefined
  const host = hostOf(url)
  if (!allowPrivate && isIP(host) !== 0 && !isPublicAddress(host)) return undefined
  url.hash = ''
  // Characters that are not ASCII are encoded as up to 9. The URL is indexed, and PostgreSQL rejects index entries of more than 2,704 bytes.
  return url.href.length <= MAX_URL ? url : undefined
}
