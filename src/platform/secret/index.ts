export { deriveKeys, Sealing } from './sealing.ts'
export {
  loadSecret,
  removePreviousKeys,
  rotateSecret,
  SecretError,
  type ServerSecret,
  secretId,
  secretText,
} from './secret.ts'
