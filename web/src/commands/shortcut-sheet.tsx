import './commands.css'
import { Fragment } from 'react'
import { type Area, type CommandOf, shortcuts } from '../shortcuts.ts'
import { useTexts } from '../texts/index.ts'
import { Dialog } from '../ui/index.ts'
import { keyNames } from './key-names.ts'

type CommandNames = { readonly [A in Area]: Readonly<Record<CommandOf<A>, string>> }

/** All keys, from the list that binds them. */
export default function ShortcutSheet(props: { onClose: () => void }) {
  const texts = useTexts('commands')
  // A command without a name does not compile.
  const names: CommandNames = texts.names
  return (
    <Dialog title={texts.shortcuts} wide onClose={props.onClose}>
      <div className="shortcuts">
        {(Object.keys(shortcuts) as Area[]).map((area) => (
          <section key={area} aria-label={texts.areas[area]}>
            <h3>{texts.areas[area]}</h3>
            <dl>
              {Object.entries<readonly string[]>(shortcuts[area]).map(([command, keys]) => (
                <Fragment key={command}>
                  <dt>{(names[area] as Readonly<Record<string, string>>)[command]}</dt>
                  <dd>
                    {keys.map((key) => (
                      <span key={key} className="shortcuts-keys" data-keys={key}>
                        {keyNames(key, texts.keys).map((name) => (
                          <kbd key={name}>{name}</kbd>
                        ))}
                      </span>
                    ))}
                  </dd>
                </Fragment>
              ))}
            </dl>
            {area === 'moves' && <p className="muted">{texts.movesHint}</p>}
          </section>
        ))}
      </div>
    </Dialog>
  )
}
