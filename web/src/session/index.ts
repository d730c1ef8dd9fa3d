export { ClientLogin, ConfirmAddress, ForgotPassword, SetPassword } from './lazy.ts'
export { NewPasswordField } from './new-password-field.tsx'
export { signIn, signOut, signOutEverywhere, useSignedIn } from './session.tsx'
export { SignIn } from './sign-in.tsx'
