import { readFileSync, type StatWatcher, unwatchFile, watchFile } from 'node:fs'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { StartError } from '../../../base/errors.ts'

/** The PEM files of a certificate with its chain, and of its private key. */
export interface CertificateFiles {
  readonly certificate: string
  readonly key: string
}

/** The files cannot be used. The message is one sentence that says what to do. */
export class CertificateError extends StartError {
  override name = 'CertificateError'
}

/** Reads and checks both files. Throws a `CertificateError`. */
export function loadCertificate({ certificate, key }: CertificateFiles): SecureContextOptions {
  const context = { cert: readPem('CARREL_TLS_CERT', certificate), key: readPem('CARREL_TLS_KEY', key) }
  try {
    createSecureContext(context)
  } catch (cause) {
    throw new CertificateError(
      `Set CARREL_TLS_CERT and CARREL_TLS_KEY to a PEM certificate and its private key: ${certificate} and ${key} cannot be used (${messageOf(cause)}).`,
      { cause },
    )
  }
  return context
}

/**
 * Calls `onChange` with the new certificate when one of the files changed, and `onError` if it cannot be used. The files
 * are polled, because a notification is lost when a file is replaced by a rename or through a symbolic link.
 */
export function watchCertificate(
  files: CertificateFiles,
  onChange: (context: SecureContextOptions) => void,
  onError: (error: unknown) => void,
  intervalMs: number,
): Disposable {
  const reload = () => {
    try {
      onChange(loadCertificate(files))
    } catch (error) {
      onError(error)
    }
  }
  const paths = [files.certificate, files.key]
  for (const path of paths) watch(path, intervalMs, reload).unref()
  return {
    [Symbol.dispose]: () => {
      for (const path of paths) unwatchFile(path, reload)
    },
  }
}

function watch(path: string, interval: number, listener: () => void): StatWatcher {
  return watchFile(path, { interval, persistent: false }, listener)
}

function readPem(setting: string, file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (cause) {
    throw new CertificateError(
      `Set ${setting} to a readable file: ${file} cannot be read (${messageOf(cause)}).`,
      {
        cause,
      },
    )
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
