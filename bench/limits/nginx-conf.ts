import { writeFile } from 'node:fs/promises'
import path from 'node:path'

/**
 * Writes the configuration into `folder`, and returns the arguments that use it.
 * @param davModule file of the module that lists folders for WebDAV clients
 */
export async function nginxArgs(folder: string, port: number, davModule?: string): Promise<string[]> {
  const conf = path.join(folder, 'nginx.conf')
  await writeFile(conf, nginxConf(folder, port, davModule))
  return ['-c', conf, '-p', folder, '-e', path.join(folder, 'error.log')]
}

/**
 * Configuration of an nginx that serves and stores files below `folder` and writes nowhere else. Temporary bodies are on
 * the same file system, so that a PUT ends with a rename instead of a copy.
 */
function nginxConf(folder: string, port: number, davModule: string | undefined): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  // Workers of a root master would run as nobody, who may not enter the folder.
  const user = process.getuid?.() === 0 ? 'user root root;' : ''
  return `${davModule === undefined ? '' : `load_module ${davModule};\n`}daemon off;
${user}
worker_processes auto;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log warn;
events { worker_connections 1024; }
http {
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 100000000;
  client_max_body_size 0;
  client_body_timeout 600;
${temporary.map((kind) => `  ${kind}_temp_path ${folder}/${kind};`).join('\n')}
  server {
    listen 127.0.0.1:${port};
    root ${folder}/files;
    location / {
      dav_methods PUT;${davModule === undefined ? '' : ' dav_ext_methods PROPFIND OPTIONS;'}
      create_full_put_path on;
    }
  }
}
`
}
