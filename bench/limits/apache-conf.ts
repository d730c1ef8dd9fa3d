import { chown, mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'

/** Where Debian has the modules of Apache. */
const MODULES = '/usr/lib/apache2/modules'
/** www-data of Debian. Apache refuses to serve as root. */
const ACCOUNT = 33

/** Writes the configuration into `folder`, and returns the arguments that use it. The files are in `files` there. */
export async function apacheArgs(folder: string, port: number): Promise<string[]> {
  const conf = path.join(folder, 'apache.conf')
  await writeFile(conf, apacheConf(folder, port))
  await mkdir(path.join(folder, 'locks'), { recursive: true })
  if (isRoot())
    for (const one of ['', 'files', 'locks']) await chown(path.join(folder, one), ACCOUNT, ACCOUNT)
  return ['-d', folder, '-f', conf, '-DFOREGROUND']
}

/** mod_dav with its defaults: event workers, no flush of stored files, no access log. */
function apacheConf(folder: string, port: number): string {
  const modules = ['mpm_event', 'authz_core', 'mime', 'dav', 'dav_fs']
  return `${modules.map((name) => `LoadModule ${name}_module ${MODULES}/mod_${name}.so`).join('\n')}
${isRoot() ? `User #${ACCOUNT}\nGroup #${ACCOUNT}` : ''}
ServerName localhost
Listen 127.0.0.1:${port}
DefaultRuntimeDir ${folder}
PidFile ${folder}/apache.pid
ErrorLog ${folder}/error.log
TypesConfig /dev/null
DocumentRoot ${folder}/files
DavLockDB ${folder}/locks/lock
EnableSendfile On
KeepAlive On
MaxKeepAliveRequests 0
KeepAliveTimeout 600
LimitRequestBody 0
<Directory ${folder}/files>
  Dav On
  Require all granted
</Directory>
`
}

function isRoot(): boolean {
  return process.getuid?.() === 0
}
