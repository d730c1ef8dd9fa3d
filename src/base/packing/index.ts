export {
  entriesInDir,
  packChanges,
  packDir,
  packDirInSlices,
  packFile,
  unpackBlocks,
  unpackChanges,
  unpackDir,
  unpackDirInSlices,
  unpackFile,
} from './packed.ts'
export { PACKET_HEAD_BYTES, packetHead, zlibStored } from './packets.ts'
