export { ZipArchive, type ZipEntry } from './zip-archive.ts'
