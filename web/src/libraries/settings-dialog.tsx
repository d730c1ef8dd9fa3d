import { KeyRound } from 'lucide-react'
import { useState } from 'react'
import { type LibraryItem, useLibraries } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { Button, CheckField, Dialog } from '../ui/index.ts'
import { ChangePasswordDialog } from './change-password-dialog.tsx'
import { HistorySetting } from './history-setting.tsx'
import { UsageList } from './usage-list.tsx'
import { useLibraryToggles } from './use-library-toggles.ts'

/** Settings of a library. */
export function SettingsDialog(props: { library: LibraryItem; onClose: () => void }) {
  const texts = useTexts('libraries')
  const { data: libraries } = useLibraries()
  const { watch } = useLibraryToggles()
  const [isChanging, setChanging] = useState(false)
  const { repo_id: id } = props.library
  // Looked up in the list, which changes while the dialog is open.
  const library = libraries?.find(({ repo_id, type }) => repo_id === id && type === 'mine') ?? props.library
  if (isChanging) return <ChangePasswordDialog libraryId={id} onClose={() => setChanging(false)} />
  const title = (
    <>
      {texts.settingsOf} <bdi>{library.repo_name}</bdi>
    </>
  )
  return (
    <Dialog title={title} onClose={props.onClose}>
      <section className="stack">
        <h3>{texts.notifications}</h3>
        <CheckField
          label={texts.watchLabel}
          checked={library.monitored ?? false}
          onChange={(event) => void watch(library, event.target.checked)}
        />
      </section>
      <HistorySetting libraryId={id} />
      {library.encrypted && (
        <section className="stack">
          <h3>{texts.libraryPassword}</h3>
          <div>
            <Button icon={KeyRound} onClick={() => setChanging(true)}>
              {texts.changePassword}
            </Button>
          </div>
        </section>
      )}
      <UsageList libraryId={id} link />
    </Dialog>
  )
}
