{{/*
The environment: in the container and not in a ConfigMap, so that a change makes new pods and old ones keep theirs.
Kubernetes makes one $ of two, and of $(NAME) the value of another variable.
*/}}
{{- define "pilotlight.environment" -}}
{{- range $name, $value := .Values.settings }}
- name: {{ $name }}
  value: {{ include "pilotlight.text" $value | replace "$" "$$" | quote }}
{{- end }}
{{- range $name, $key := .Values.secret.keys }}
- name: {{ $name }}_FILE
  value: {{ printf "/run/secrets/pilotlight/%s" $key | quote }}
{{- end }}
- name: PILOTLIGHT_STATE_DIR
  value: /var/lib/pilotlight
- name: PILOTLIGHT_ADMIN_LISTEN
  value: unix:/run/pilotlight/admin.sock
{{- range $name, $value := .Values.proxy }}
- name: {{ $name }}
  value: {{ $value | replace "$" "$$" | quote }}
{{- end }}
{{- if .Values.certificates.configMap }}
- name: NODE_EXTRA_CA_CERTS
  value: {{ printf "/run/certificates/%s" .Values.certificates.key | quote }}
{{- end }}
{{- end -}}

{{/* A value of YAML as the program reads it: lists with commas, lists of objects as JSON, numbers without an exponent. */}}
{{- define "pilotlight.text" -}}
{{- if not (kindIs "slice" .) -}}
{{ kindIs "string" . | ternary . (toJson .) }}
{{- else if and . (kindIs "map" (first .)) -}}
{{ toJson . }}
{{- else -}}
{{- range $index, $one := . }}{{ if $index }},{{ end }}{{ include "pilotlight.text" $one }}{{ end -}}
{{- end -}}
{{- end -}}

{{/* The port of metrics, probes and status page. */}}
{{- define "pilotlight.port" -}}
{{ .Values.settings.PILOTLIGHT_LISTEN | default "0.0.0.0:9847" | regexFind "[0-9]+$" }}
{{- end -}}
