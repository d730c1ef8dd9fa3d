/** The part of a logger that this module uses. */
export interface Logger {
  info(details: object, message: string): void
  warn(details: object, message: string): void
  error(details: object, message: string): void
}

export const silentLogger: Logger = { info() {}, warn() {}, error() {} }
