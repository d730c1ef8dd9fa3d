import { parseRemote } from './remote-path.ts'
import { runClient } from './session.ts'
import { shown } from './terminal.ts'

export type Shell = 'bash' | 'zsh' | 'fish'

// Bash splits words at colons, so the script finds the word by itself and returns only what follows the last colon.
const scripts: Record<Shell, string> = {
  bash: `_carrel() {
  local line="\${COMP_LINE:0:COMP_POINT}" IFS=$'\\n'
  local current="\${line##*[[:space:]]}"
  COMPREPLY=($(carrel complete -- "$line" 2>/dev/null))
  if [[ "$current" == *:* && "$COMP_WORDBREAKS" == *:* ]]; then
    local prefix="\${current%"\${current##*:}"}"
    COMPREPLY=("\${COMPREPLY[@]#"$prefix"}")
  fi
  [[ "\${COMPREPLY[0]}" == */ || "\${COMPREPLY[0]}" == *: ]] && compopt -o nospace
}
complete -o default -F _carrel carrel
`,
  // Libraries and folders are continued, so no space follows them.
  zsh: `#compdef carrel
_carrel() {
  local -a found
  found=(\${(f)"$(carrel complete -- "\${words[1,CURRENT]}" 2>/dev/null)"})
  compadd -S '' -- \${(M)found:#*[:/]}
  compadd -- \${found:#*[:/]}
  _files
  (( compstate[nmatches] ))
}
compdef _carrel carrel
`,
  fish: `complete -c carrel -f -a '(carrel complete -- (commandline -cp) 2>/dev/null)'
complete -c carrel -F
`,
}

/** The completion script of a shell. */
export function completionScript(shell: Shell): string {
  return scripts[shell]
}

/** Libraries and paths that continue a word. Of a failure, only a message on standard error is left, which the scripts drop. */
export async function completePath(word: string): Promise<string[]> {
  const found: string[] = []
  const colon = word.indexOf(':')
  await runClient({}, async ({ carrel, libraries, signal }) => {
    if (colon === -1) {
      for (const { name } of await carrel.libraries({ signal })) found.push(`${name}:`)
      return undefined
    }
    const remote = parseRemote(word)
    if (remote === undefined) return undefined
    const { id } = await libraries.get(remote.library)
    const folder = word.slice(colon + 1, word.lastIndexOf('/') + 1) || '/'
    const start = word.slice(0, Math.max(word.lastIndexOf('/') + 1, colon + 1))
    for await (const { name, kind } of carrel.list(id, folder, { signal })) {
      found.push(`${start}${name}${kind === 'dir' ? '/' : ''}`)
    }
    return undefined
  })
  // A shell would interpret what has to be escaped here.
  return found.filter((one) => one.startsWith(word) && shown(one) === one && !/\s/.test(one))
}
