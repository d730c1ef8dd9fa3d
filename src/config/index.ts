export { type Config, readConfig } from './config.ts'
export { settings } from './settings.ts'
export { ConfigError } from './sources.ts'
