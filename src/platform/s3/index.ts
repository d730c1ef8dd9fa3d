export {
  Bucket,
  type BucketLimits,
  type BucketSettings,
  type BucketStatistics,
  type ObjectVersion,
  openBucket,
} from './bucket.ts'
export { ObjectMissing, S3Refused, S3Unavailable } from './errors.ts'
export { explainUnusable, probeBucket, readObject, writeObject } from './probe.ts'
