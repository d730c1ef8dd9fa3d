export { hasObjects } from './block-object-store.ts'
export { registerS3Metrics } from './metrics.ts'
export { openS3BlockStore } from './open-s3-block-store.ts'
export { S3BlockStore } from './s3-block-store.ts'
