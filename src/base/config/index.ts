export { blocksAt, type Config, readConfig } from './config.ts'
export { formatBlocks, malformed, parseBlocks } from './parsers.ts'
export { allSettings, settings } from './settings.ts'
export { ConfigError } from './sources.ts'
