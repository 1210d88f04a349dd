{{/*
An init container for the pods of your chart, in `mode: sidecar`:
  initContainers:
    {{- include "pilotlight.sidecar" .Subcharts.pilotlight | nindent 8 }}
It restarts always, which makes it a sidecar: it starts before the app and ends after it, and a Job with one completes.
*/}}
{{- define "pilotlight.sidecar" -}}
{{- if ne .Values.mode "sidecar" }}{{ fail "pilotlight.sidecar: set pilotlight.mode to sidecar" }}{{ end -}}
- restartPolicy: Always
  {{- include "pilotlight.container" . | nindent 2 }}
{{- end -}}

{{/*
No preStop hook: SIGTERM is all it takes. And no probe of any kind: a kubelet that restarts the container would end the
heart, which sends the heartbeats, for the sake of the daemon, which the heart restarts by itself; an app's readiness
depends on nobody else's API.
*/}}
{{- define "pilotlight.container" -}}
name: pilotlight
image: {{ include "pilotlight.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
env:
  {{- include "pilotlight.environment" . | trim | nindent 2 }}
ports:
  - { name: pilotlight, containerPort: {{ include "pilotlight.port" . }} }
resources:
  requests: {{- .Values.resources.requests | toYaml | nindent 4 }}
  limits: {{- mergeOverwrite (dict "memory" "192Mi") .Values.resources.limits | toYaml | nindent 4 }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  runAsNonRoot: true
  {{- include "pilotlight.user" . | nindent 2 }}
  capabilities: { drop: [ALL] }
  seccompProfile: { type: RuntimeDefault }
volumeMounts:
  - { name: pilotlight-api-key, mountPath: /run/secrets/pilotlight, readOnly: true }
  - { name: pilotlight-state, mountPath: /var/lib/pilotlight }
  # The socket of the admin routes, where an app beside it does not get.
  - { name: pilotlight-run, mountPath: /run/pilotlight }
  {{- if .Values.certificates.configMap }}
  - { name: pilotlight-certificates, mountPath: /run/certificates, readOnly: true }
  {{- end }}
{{- end -}}

{{/* OpenShift gives each namespace its own users, and refuses a pod that names another. */}}
{{- define "pilotlight.user" -}}
{{- if not (.Capabilities.APIVersions.Has "security.openshift.io/v1") -}}
runAsUser: 65532
{{- end -}}
{{- end -}}
