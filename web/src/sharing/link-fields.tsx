import './sharing.css'
import { Dices } from 'lucide-react'
import type { LinkKind } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { Button, CheckField, DateField, PasswordField, SelectField, TextField } from '../ui/index.ts'
import { dayOf, type LinkDraft, makePassword, type RightsName, type Until } from './link-draft.ts'
import { RequestFields } from './request-fields.tsx'
import { UntilOptions } from './share-expiry.tsx'

export function LinkFields(props: {
  kind: LinkKind
  isDir: boolean
  mayWrite: boolean
  draft: LinkDraft
  onChange: (draft: LinkDraft) => void
}) {
  const { draft, kind } = props
  const texts = useTexts('sharing')
  const common = useTexts('common')
  const set = (change: Partial<LinkDraft>) => props.onChange({ ...draft, ...change })
  const rights: readonly RightsName[] =
    props.isDir && props.mayWrite ? ['download', 'view', 'upload'] : ['download', 'view']
  return (
    <>
      <div className="sharing-pair">
        {kind === 'share' && (
          <SelectField
            label={texts.rights}
            value={draft.rights}
            onChange={(event) => set({ rights: event.target.value as RightsName })}
          >
            {rights.map((one) => (
              <option key={one} value={one}>
                {texts.rightsNames[one]}
              </option>
            ))}
          </SelectField>
        )}
        <SelectField
          label={texts.ends}
          value={draft.until}
          onChange={(event) => set({ until: event.target.value as Until })}
        >
          <UntilOptions />
        </SelectField>
        {draft.until === 'date' && (
          <DateField
            label={texts.endsOn}
            required
            min={dayOf(new Date())}
            value={draft.date}
            onChange={(date) => set({ date })}
          />
        )}
      </div>
      {kind === 'upload' && (
        <CheckField
          label={texts.asksFiles}
          checked={draft.asks}
          onChange={(event) => set({ asks: event.target.checked })}
        />
      )}
      {kind === 'upload' && draft.asks && (
        <RequestFields draft={draft.request} onChange={(request) => set({ request })} />
      )}
      <CheckField
        label={texts.withPassword}
        checked={draft.secured}
        onChange={(event) =>
          set({ secured: event.target.checked, password: draft.password || makePassword() })
        }
      />
      {draft.secured && (
        <div className="sharing-password">
          <PasswordField
            label={common.password}
            value={draft.password}
            onChange={(event) => set({ password: event.target.value })}
          />
          <Button icon={Dices} onClick={() => set({ password: makePassword() })}>
            {texts.generate}
          </Button>
        </div>
      )}
      <TextField
        label={texts.note}
        hint={kind === 'upload' ? texts.uploadNoteHint : texts.noteHint}
        maxLength={500}
        value={draft.description}
        onChange={(event) => set({ description: event.target.value })}
      />
    </>
  )
}
