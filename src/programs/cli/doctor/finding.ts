/** The result of one check. All but `ok` have a remedy. */
export interface Finding {
  readonly check: string
  readonly status: 'ok' | 'warn' | 'fail'
  readonly message: string
  readonly remedy?: string
}

export function ok(check: string, message: string): Finding {
  return { check, status: 'ok', message }
}

export function warn(check: string, message: string, remedy: string): Finding {
  return { check, status: 'warn', message, remedy }
}

export function fail(check: string, message: string, remedy: string): Finding {
  return { check, status: 'fail', message, remedy }
}
