{{/* The volumes of the container, for the pods of your chart too. */}}
{{- define "pilotlight.volumes" -}}
- name: pilotlight-api-key
  secret: { secretName: {{ .Values.secret.name | quote }} }
{{- if and (eq .Values.mode "standalone") .Values.persistence.enabled }}
- name: pilotlight-state
  persistentVolumeClaim: { claimName: {{ include "pilotlight.claim" . | quote }} }
{{- else }}
{{/* Outlives a restart of the container, not of the pod: then what the service still has is delivered again. */ -}}
- name: pilotlight-state
  emptyDir: { sizeLimit: 512Mi }
{{- end }}
- name: pilotlight-run
  emptyDir: { medium: Memory, sizeLimit: 1Mi }
{{- with .Values.certificates.configMap }}
- name: pilotlight-certificates
  configMap: { name: {{ . | quote }} }
{{- end }}
{{- end -}}

{{- define "pilotlight.claim" -}}
{{ .Values.persistence.existingClaim | default (printf "%s-state" (include "pilotlight.fullname" .)) }}
{{- end -}}
