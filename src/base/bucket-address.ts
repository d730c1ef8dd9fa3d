/** A prefix in a bucket, and how to reach it. */
export interface BucketAddress {
  readonly bucket: string
  /** Empty, or with a slash at its end. */
  readonly prefix: string
  /** Undefined for Amazon's. */
  readonly endpoint: string | undefined
  readonly region: string
  /** The bucket is part of the path, not of the host name. */
  readonly pathStyle: boolean
  /** Server-side encryption that is requested for every object. */
  readonly encryption?:
    | { readonly algorithm: 'AES256' | 'aws:kms'; readonly keyId: string | undefined }
    | undefined
  /** Of the AWS configuration files of the account; undefined for the credential chain of the SDK. */
  readonly profile?: string | undefined
}

const PARAMETERS: ReadonlySet<string> = new Set([
  'endpoint',
  'region',
  'path_style',
  'sse',
  'sse_kms_key_id',
  'profile',
])

/** Reads `s3://bucket/prefix` with parameters. Undefined for other text. */
export function parseBucketAddress(text: string): BucketAddress | undefined {
  const [, bucket, folder = '', query = ''] =
    /^s3:\/\/([a-z0-9][\w.-]{1,61}[a-z0-9])(?:\/([^?\s]*))?(?:\?(.*))?$/i.exec(text) ?? []
  if (bucket === undefined) return undefined
  const parameters = new URLSearchParams(query)
  if (![...parameters].every(([name, value]) => PARAMETERS.has(name) && value !== '')) return undefined
  const value = (name: string) => parameters.get(name) ?? undefined
  const endpoint = baseUrl(value('endpoint'))
  const region = value('region') ?? 'us-east-1'
  // Services other than Amazon's seldom have a host name for each bucket.
  const pathStyle = value('path_style') ?? (endpoint === undefined ? '0' : '1')
  const algorithm = value('sse')
  const keyId = value('sse_kms_key_id')
  const profile = value('profile')
  if (value('endpoint') !== undefined && endpoint === undefined) return undefined
  if (!/^[a-z0-9-]+$/i.test(region) || !/^[01]$/.test(pathStyle)) return undefined
  if (algorithm !== undefined && algorithm !== 'AES256' && algorithm !== 'aws:kms') return undefined
  if (keyId !== undefined && algorithm !== 'aws:kms') return undefined
  const prefix = folder.replace(/^\/+|\/+$/g, '')
  return {
    bucket,
    prefix: prefix === '' ? '' : `${prefix}/`,
    endpoint,
    region,
    pathStyle: pathStyle === '1',
    encryption: algorithm && { algorithm, keyId },
    ...(profile !== undefined && { profile }),
  }
}

/** The text that `parseBucketAddress` reads as this address. */
export function formatBucketAddress(address: BucketAddress): string {
  const { bucket, prefix, endpoint, region, pathStyle, encryption, profile } = address
  const parameters = Object.entries({
    endpoint,
    region,
    path_style: pathStyle ? '1' : '0',
    sse: encryption?.algorithm,
    sse_kms_key_id: encryption?.keyId,
    profile,
  }).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`]))
  return `s3://${bucket}/${prefix}?${parameters.join('&')}`
}

/** A URL without a user, a query and a slash at its end. Undefined for other text. */
function baseUrl(text: string | undefined): string | undefined {
  const url = text === undefined || /[?#]/.test(text) ? null : URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || url.username || url.password) return undefined
  return url.href.replace(/\/+$/, '')
}
