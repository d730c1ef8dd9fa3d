import { randomUUID } from 'node:crypto'
import { type S3Service, sharedS3Service, shareS3Service, startS3 } from './s3.ts'

/** Nodes of each server under test: more than one with CARREL_TEST_NODES, so that any suite over HTTP can be run on several. */
export const TEST_NODES = Number(process.env['CARREL_TEST_NODES'] ?? 1)

/** Processes of each server under test on SQLite: more than one with CARREL_TEST_SERVER_PROCESSES. They run in one process, with real locks. */
export const TEST_SERVER_PROCESSES = Number(process.env['CARREL_TEST_SERVER_PROCESSES'] ?? 1)

let started: Promise<S3Service> | undefined

/** Starts an S3 service for all test processes, which find it through CARREL_TEST_CLUSTER_S3. */
export async function shareS3(): Promise<AsyncDisposable> {
  const service = await startS3('ceph')
  shareS3Service(service)
  return service
}

async function clusterS3() {
  const shared = sharedS3Service()
  if (shared !== undefined) return shared
  // Ends with this process.
  started ??= startS3('ceph')
  return started
}

/** What all nodes of a new cluster have in common, apart from the database: a secret, and blocks in S3. */
export async function clusterSettings(): Promise<Record<string, string>> {
  const { bucket, endpoint, region, accessKey, secretKey } = await clusterS3()
  // The credential chain of the SDK reads the variables of the process.
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: accessKey, AWS_SECRET_ACCESS_KEY: secretKey })
  const id = randomUUID()
  return {
    CARREL_SECRET: `secret of the cluster ${id}`,
    CARREL_BLOCKS: `s3://${bucket}/${id}?endpoint=${endpoint}&region=${region}`,
  }
}
