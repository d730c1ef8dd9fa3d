import { createHash, randomBytes } from 'node:crypto'
import type { Bucket } from './bucket.ts'
import { S3Refused, S3Unavailable } from './errors.ts'

const PROBE_BYTES = 64

/** What a probe found out about a bucket that can be used. */
interface BucketTraits {
  /** The service compares the bytes of an object with the signed hash. */
  readonly rejectsWrongBytes: boolean
}

/**
 * Writes, reads and removes a small object with a random name. Throws S3Unavailable, and S3Refused if one of them is not permitted.
 */
export async function probeBucket(bucket: Bucket): Promise<BucketTraits> {
  const name = `probe-${randomBytes(8).toString('hex')}`
  const bytes = randomBytes(PROBE_BYTES)
  await writeObject(bucket, name, bytes)
  if (!(await readObject(bucket, name)).equals(bytes)) {
    throw new S3Refused(`${bucket.place} returns other bytes than were stored.`)
  }
  const wrong = `${name}-wrong`
  const rejectsWrongBytes = await bucket
    .put(wrong, { ...bodyOf(bytes), open: () => randomBytes(PROBE_BYTES) })
    .then(
      () => false,
      (error: unknown) => {
        if (error instanceof S3Refused) return true
        throw error
      },
    )
  await bucket.remove(name)
  if (!rejectsWrongBytes) await bucket.remove(wrong)
  return { rejectsWrongBytes }
}

/** Stores a small object. */
export function writeObject(bucket: Bucket, name: string, bytes: Uint8Array): Promise<void> {
  return bucket.put(name, bodyOf(bytes))
}

/** The bytes of a small object. Throws ObjectMissing. */
export function readObject(
  bucket: Bucket,
  name: string,
  range?: { readonly start: number; readonly end: number },
): Promise<Buffer> {
  return bucket.get(name, async (chunks) => Buffer.concat(await Array.fromAsync(chunks)), { range })
}

function bodyOf(bytes: Uint8Array) {
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return { size: bytes.length, sha256, open: () => bytes }
}

const WRONG_CREDENTIALS: ReadonlySet<string> = new Set([
  'InvalidAccessKeyId',
  'SignatureDoesNotMatch',
  'InvalidToken',
  'ExpiredToken',
])
const WRONG_REGION: ReadonlySet<string> = new Set([
  'PermanentRedirect',
  'AuthorizationHeaderMalformed',
  'IllegalLocationConstraintException',
  'TemporaryRedirect',
])

/** One clause for the operator that says what to change, if a call failed because the bucket cannot be used. */
export function explainUnusable(error: S3Refused | S3Unavailable): string {
  if (error instanceof S3Unavailable) {
    return 'see that the service is running and that the endpoint is right, and start again once it answers'
  }
  const { code, status } = error
  if (code === 'NoSuchBucket') return 'create the bucket, or correct its name'
  if (code === 'CredentialsProviderError')
    return 'no credentials were found, so set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY'
  if (WRONG_REGION.has(code) || status === 301 || status === 307)
    return 'the bucket is in another region, so correct the region'
  if (WRONG_CREDENTIALS.has(code) || status === 401)
    return 'the service rejects the AWS credentials, so correct them'
  if (status === 403) {
    return 'the credentials need s3:GetObject, s3:PutObject and s3:DeleteObject below the prefix, and s3:ListBucket on the bucket'
  }
  return 'see that it is the bucket of an S3 service'
}
