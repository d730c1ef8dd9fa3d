import './sharing.css'
import { type FormEvent, useState } from 'react'
import { createLink } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { Button, CopyButton, Dialog, useAction, useErrorMessage, visibleName } from '../ui/index.ts'
import { expiryOf, isComplete, newDraft, rightsNamed } from './link-draft.ts'
import { LinkFields } from './link-fields.tsx'
import type { Shared } from './share-dialog.tsx'
import { ShareFailures } from './share-rows.tsx'

interface Made {
  readonly name: string
  readonly link: string
}

/** Creates a share link for each of several entries, with the same options, and lists them. */
export function LinkManyDialog(props: { items: readonly Shared[]; mayWrite: boolean; onClose: () => void }) {
  const { items, onClose } = props
  const texts = useTexts('sharing')
  const wording = useErrorMessage()
  const act = useAction('links', 'shares')
  const [draft, setDraft] = useState(newDraft)
  const [made, setMade] = useState<readonly Made[]>([])
  const [failed, setFailed] = useState<readonly { name: string; reason: string }[]>([])
  const [busy, setBusy] = useState(false)
  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    setBusy(true)
    const links: Made[] = []
    const failures: { name: string; reason: string }[] = []
    await act(async () => {
      for (const item of items) {
        try {
          const { link } = await createLink('share', item, {
            password: draft.secured ? draft.password : undefined,
            expires: expiryOf(draft),
            description: draft.description.trim(),
            permissions: rightsNamed[draft.rights],
          })
          links.push({ name: item.name, link })
        } catch (error) {
          failures.push({ name: item.name, reason: wording(error) })
        }
      }
    })
    setMade(links)
    setFailed(failures)
    setBusy(false)
  }
  return (
    <Dialog wide onClose={onClose} title={texts.linkMany(items.length)}>
      {made.length === 0 ? (
        <form className="stack" onSubmit={(event) => void submit(event)}>
          <LinkFields
            kind="share"
            isDir={items.every(({ isDir }) => isDir)}
            mayWrite={props.mayWrite}
            draft={draft}
            onChange={setDraft}
          />
          <Button type="submit" variant="primary" busy={busy} disabled={!isComplete(draft)}>
            {texts.makeLinks}
          </Button>
        </form>
      ) : (
        <div className="stack">
          <div className="sharing-made-head">
            <span role="status">{texts.linksMade(made.length)}</span>
            <CopyButton primary text={made.map(({ name, link }) => `${name}\t${link}`).join('\n')} />
          </div>
          <ul className="sharing-made">
            {made.map(({ name, link }) => (
              <li key={link}>
                <bdi>{visibleName(name)}</bdi>
                <a href={link} target="_blank" rel="noreferrer">
                  {link}
                </a>
                <CopyButton text={link} label={texts.copyLinkOf(name)} />
              </li>
            ))}
          </ul>
        </div>
      )}
      <ShareFailures failed={failed} />
    </Dialog>
  )
}
