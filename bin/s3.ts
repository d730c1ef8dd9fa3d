import { once } from 'node:events'
import { startS3 } from '../test/support/s3.ts'
import { ensurePrograms } from './system-programs.ts'

// `npm run s3`: starts an S3 service with an empty bucket on this machine, and prints the settings of nodes that use it. It is for trying several nodes: it
// keeps objects in memory only, and they are gone when it ends.

await ensurePrograms(['bin/s3.ts'])
console.log('Starting the S3 interface of Ceph.')
await using service = await startS3('ceph')
const { endpoint, region, bucket, accessKey, secretKey } = service
console.log(`export CARREL_BLOCKS='s3://${bucket}/blocks?endpoint=${endpoint}&region=${region}'`)
console.log(`export AWS_ACCESS_KEY_ID=${accessKey} AWS_SECRET_ACCESS_KEY=${secretKey}`)
console.log('Stop it with Ctrl-C. Its objects are then gone.')
const idle = setInterval(() => {}, 2 ** 30)
await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
clearInterval(idle)
